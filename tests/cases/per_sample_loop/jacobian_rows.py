# expect: pattern = per-sample-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = y, outputs, out
# A Jacobian by hand: each output is walked back on its own.
import torch
from torch import nn


def jacobian(f, x):
    x = x.clone().requires_grad_(True)
    y = f(x)  # expect: place
    rows = []
    for i in range(y.numel()):
        x.grad = None
        y.view(-1)[i].backward()  # expect: place
        rows.append(x.grad.clone())
    return torch.stack(rows)


torch.manual_seed(0)
controller = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
state = torch.randn(4)
J = jacobian(controller, state)
print(J.shape, torch.linalg.svdvals(J))
