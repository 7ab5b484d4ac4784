import functools
import torch

torch.manual_seed(0)
A = torch.randn(8, 4)
b = torch.randn(8)


def residual_norm(w):
    return torch.log1p((A @ w - b).pow(2)).sum()


def evaluate(optimizer, w):
    optimizer.zero_grad()
    objective = residual_norm(w)
    objective.backward()
    return objective


def solve(max_iter):
    w = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=max_iter, lr=0.3)
    optimizer.step(functools.partial(evaluate, optimizer, w))
    return w.detach()


print(solve(max_iter=5))
