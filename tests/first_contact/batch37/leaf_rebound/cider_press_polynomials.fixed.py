"""Juice yield of a cider press from pressure and milling time, exercise 3: gradient descent without an optimizer.

First a straight plane, then the same with squared terms. One step works.
"""
import torch


def make_presses(n, g):
    pressure = 1 + 4 * torch.rand(n, generator=g)
    milling = torch.rand(n, generator=g)
    yield_ = 0.35 + 0.12 * pressure - 0.012 * pressure ** 2 + 0.2 * milling - 0.15 * milling ** 2
    return torch.stack([pressure, milling], 1), yield_ + 0.01 * torch.randn(n, generator=g)


def standardise(x):
    return (x - x.mean(0)) / x.std(0)


def features(x, degree):
    return torch.cat([x ** d for d in range(1, degree + 1)], 1)


def model(params, x):
    w, b = params
    return x @ w + b


def mse(pred, target):
    return ((pred - target) ** 2).mean()


def update(params, lr):
    return [(p - lr * p.grad).detach().requires_grad_() for p in params]


def fit(x, y, degree, lr, steps, g):
    x = standardise(features(x, degree))
    params = [
        torch.randn(x.shape[1], generator=g, requires_grad=True),
        torch.zeros(1, requires_grad=True),
    ]
    losses = []
    for step in range(steps):
        loss = mse(model(params, x), y)
        loss.backward()
        params = update(params, lr)
        losses.append(loss.item())
    return params, losses


g = torch.Generator().manual_seed(33)
x, y = make_presses(80, g)
for degree in (1, 2):
    params, losses = fit(x, y, degree, lr=0.1, steps=60, g=g)
    print("degree", degree, "first", round(losses[0], 4), "last", round(losses[-1], 4))
    print("   w", [round(v, 3) for v in params[0].tolist()], "b", round(params[1].item(), 3))
