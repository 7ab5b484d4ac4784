import torch
from torch import nn
from functools import partial

def loss_of(pred, target): return ((pred - target) ** 2).mean()

def scan(f, init, xs):
    carry, ys = init, []
    for x in xs:
        carry, y = f(carry, x)
        ys.append(y)
    return carry, torch.stack(ys)

def cell(params, carry, x):
    (h, n), (w, u) = carry, params
    h = torch.tanh(x @ w + h @ u)
    return (h, n + 1), h

torch.manual_seed(0)
params = (torch.randn(2, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True))
opt = torch.optim.SGD(params, lr=0.05)
carry = (torch.zeros(3), 0)
for chunk in torch.randn(4, 5, 2):
    carry, hs = scan(partial(cell, params), carry, chunk)
    loss = loss_of(hs[:, :2], chunk)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(carry[1])
