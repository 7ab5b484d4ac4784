# expect: pattern = lbfgs-closure
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = u, residual, u_x, u_xx
"""PINN for u'' = -u on [0, pi] with u(0) = 0 and u(pi/2) = 1, refined with LBFGS."""
import math
import torch
from torch import nn


class PINN(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x)


def derivative(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


torch.manual_seed(1)
model = PINN()
collocation = torch.linspace(0, math.pi, 20).view(-1, 1).requires_grad_()
boundary_x = torch.tensor([[0.0], [math.pi / 2]])
boundary_u = torch.tensor([[0.0], [1.0]])
lbfgs = torch.optim.LBFGS(
    model.parameters(), max_iter=3, history_size=5, line_search_fn="strong_wolfe"
)

for outer in range(2):
    u = model(collocation)  # expect: place
    residual = derivative(derivative(u, collocation), collocation) + u  # expect: place

    def closure():
        lbfgs.zero_grad()
        boundary = (model(boundary_x) - boundary_u).pow(2).mean()
        loss = residual.pow(2).mean() + boundary
        loss.backward()  # expect: place
        return loss

    value = lbfgs.step(closure)
    print(outer, float(value))
