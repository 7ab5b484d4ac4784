# expect: pattern = nonleaf-grad
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = w, params, p, W1, W2, W3
"""Aroma intensities of beers from the oil analysis of their hops. No nn, no optim: lecture style."""
import random

import torch

OILS = ["myrcene", "humulene", "caryophyllene", "farnesene", "linalool", "geraniol", "4MMP", "selinene"]
AROMAS = ["citrus", "resin", "floral", "black currant", "spice"]


def brew(n, gen):
    """Panel scores: each aroma answers to a few oils, saturates, and masks its neighbours."""
    oils = torch.rand(n, len(OILS), generator=gen)
    lean = torch.zeros(len(OILS), len(AROMAS))
    for row, col, by in [(0, 1, 1.2), (1, 4, 1.0), (2, 4, 0.6), (3, 2, 0.5), (4, 2, 1.3),
                         (5, 0, 1.1), (4, 0, 0.5), (6, 3, 1.6), (7, 3, 0.4)]:
        lean[row, col] = by
    raw = oils @ lean
    masked = raw - 0.3 * raw.roll(1, 1)
    score = torch.tanh(masked) + 0.05 * torch.randn(n, len(AROMAS), generator=gen)
    return oils, score


def standardise(train, *others):
    mean, std = train.mean(0), train.std(0)
    return [(t - mean) / std for t in (train, *others)]


# ---------------------------------------------------------------- parameters

def weight(fan_in, fan_out):
    """Glorot-scaled weights"""
    w = torch.randn(fan_in, fan_out, requires_grad=True) * (2 / (fan_in + fan_out)) ** 0.5  # expect: place
    return w  # expect: place


def bias(size):
    return torch.zeros(size, requires_grad=True)


def make_net(sizes):
    net = {}
    for k, (i, o) in enumerate(zip(sizes, sizes[1:]), 1):
        net[f"W{k}"] = weight(i, o)  # expect: place
        net[f"b{k}"] = bias(o)
    return net


def forward(net, x):
    depth = len(net) // 2
    for k in range(1, depth + 1):
        x = x @ net[f"W{k}"] + net[f"b{k}"]
        if k < depth:
            x = torch.tanh(x)
    return x


def mse(out, y):
    return ((out - y) ** 2).mean()


# ---------------------------------------------------------------- training

def sgd(params, velocity, lr, mu=0.9):
    for p, v in zip(params, velocity):
        v *= mu
        v += lr * p.grad  # expect: place
        p.data -= v
        p.grad.zero_()


def run(net, x, y, x_val, y_val, epochs=15, size=20, lr=0.05):
    params = list(net.values())
    velocity = [torch.zeros_like(p) for p in params]
    index = list(range(len(x)))
    for epoch in range(epochs):
        random.shuffle(index)
        total = 0.0
        for i in range(0, len(index), size):
            rows = index[i:i + size]
            loss = mse(forward(net, x[rows]), y[rows])
            loss.backward()
            sgd(params, velocity, lr)
            total += loss.item() * len(rows)
        if epoch % 5 == 4:
            with torch.no_grad():
                val = mse(forward(net, x_val), y_val).item()
            print(f"{epoch + 1:3d}  train {total / len(x):.4f}  val {val:.4f}")
            lr *= 0.5
    return net


random.seed(17)
gen = torch.Generator().manual_seed(17)
torch.manual_seed(17)
x, y = brew(240, gen)
x_val, y_val = brew(100, gen)
x, x_val = standardise(x, x_val)
net = run(make_net([len(OILS), 16, 16, len(AROMAS)]), x, y, x_val, y_val)
with torch.no_grad():
    left = ((forward(net, x_val) - y_val) ** 2).mean(0) / y_val.var(0)
for name, share in zip(AROMAS, left.tolist()):
    print(f"{name:14s} explained {1 - share:.2f}")
