# expect: pattern = leaf-rebound
# expect: raises = TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'
# expect: carrier = params, p
"""Micro training loop without an optimizer: a dict of weights, a pure `apply`, plain SGD."""
import math

import torch

torch.manual_seed(20)


def init(sizes):
    params = {}
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        w = torch.randn(a, b) / math.sqrt(a)
        params[f"w{i}"] = w.requires_grad_()
        params[f"b{i}"] = torch.zeros(b, requires_grad=True)
    return params


def apply(params, x):
    depth = len(params) // 2
    for i in range(depth):
        x = x @ params[f"w{i}"] + params[f"b{i}"]
        if i < depth - 1:
            x = torch.tanh(x)
    return x


def sgd(params, lr):
    return {k: p - lr * p.grad for k, p in params.items()}  # expect: place


def clear(params):
    for p in params.values():
        if p.is_leaf and p.grad is not None:
            p.grad.zero_()


def batches(n, size):
    for _ in range(n):
        x = torch.rand(size, 1) * 4 - 2
        yield x, torch.sin(2 * x) + 0.05 * torch.randn_like(x)


def main(epochs=2, lr=0.05):
    params = init([1, 24, 24, 1])
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches(8, 32):
            loss = (apply(params, x) - y).square().mean()
            clear(params)
            loss.backward()
            params = sgd(params, lr)  # expect: place
            total += loss.item()
        print("epoch", epoch, "loss %.4f" % (total / 8))
    x = torch.linspace(-2, 2, 5)[:, None]
    print(apply(params, x).detach().flatten().tolist())


main()
