# A Jacobian by hand: each output is walked back on its own.
import torch
from torch import nn


def jacobian(f, x):
    x = x.clone().requires_grad_(True)
    rows = []
    for i in range(f(x).numel()):
        y = f(x)
        x.grad = None
        y.view(-1)[i].backward()
        rows.append(x.grad.clone())
    return torch.stack(rows)


torch.manual_seed(0)
controller = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
state = torch.randn(4)
J = jacobian(controller, state)
print(J.shape, torch.linalg.svdvals(J))
