# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = params, params["w1"], weights, self.weights, w1
# A functional network: the weights are normalised when they are put together.
from functools import partial

import torch
import torch.nn.functional as F


def init(sizes):
    raw = {}
    for i, (a, b) in enumerate(zip(sizes, sizes[1:]), 1):
        raw[f"v{i}"] = torch.randn(b, a, requires_grad=True)
        raw[f"g{i}"] = torch.ones(b, 1, requires_grad=True)
    return raw


def assemble(raw):
    n = len(raw) // 2
    return {f"w{i}": raw[f"g{i}"] * F.normalize(raw[f"v{i}"], dim=1) for i in range(1, n + 1)}  # expect: place


def apply(params, x):
    for name, w in params.items():
        x = F.linear(x, w)
        if name != f"w{len(params)}":
            x = torch.tanh(x)
    return x


def loss_fn(params, x, y):
    return F.mse_loss(apply(params, x), y)


def main():
    torch.manual_seed(0)
    raw = init((3, 8, 1))
    params = assemble(raw)  # expect: place
    optimizer = torch.optim.Adam(raw.values(), lr=0.02)
    objective = partial(loss_fn, params)
    for step in range(5):
        x = torch.randn(16, 3)
        loss = objective(x, x.prod(1, keepdim=True))  # expect: place
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        print(step, loss.item())


main()
