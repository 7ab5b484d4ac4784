# expect: pattern = unused-parameter
# expect: raises = RuntimeError: The differentiated Tensor at index 4 appears to not have been used
# expect: carrier = grads, params, model
"""First-order adaptation of a bike-demand net; the inner loss only looks at one of two heads."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class Demand(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.bikes = nn.Linear(16, 1)
        self.docks = nn.Linear(16, 1)

    def forward(self, x, which):
        h = torch.tanh(self.body(x))
        return (self.bikes if which == "bikes" else self.docks)(h).squeeze(1)


def station(n=10):
    slope = torch.rand(4) * 2 - 1
    x = torch.randn(2 * n, 4)
    bikes, docks = x @ slope, 5 - x @ slope
    return x[:n], bikes[:n], docks[:n], x[n:], bikes[n:], docks[n:]


def adapt(model, x, bikes, rate=0.1):
    params = dict(model.named_parameters())
    loss = F.mse_loss(functional_call(model, params, (x, "bikes")), bikes)
    grads = torch.autograd.grad(loss, list(params.values()))  # expect: place
    return {k: p - rate * g for (k, p), g in zip(params.items(), grads)}  # expect: place


torch.manual_seed(36)
model = Demand()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for it in range(6):
    opt.zero_grad()
    total = 0.0
    for _ in range(3):
        xs, bs, ds, xq, bq, dq = station()
        fast = adapt(model, xs, bs)
        loss = F.mse_loss(functional_call(model, fast, (xq, "bikes")), bq)
        loss = loss + 0.5 * F.mse_loss(functional_call(model, fast, (xq, "docks")), dq)
        (loss / 3).backward()
        total += loss.item() / 3
    opt.step()
    print(it, round(total, 4))
