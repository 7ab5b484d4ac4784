# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn

torch.manual_seed(7)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 16), nn.Linear(16, 16), nn.Linear(16, 1)])

    def forward(self, t, x):
        h = torch.cat([t, x], dim=1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)


def derivative(y, *wrt):
    return torch.autograd.grad(y, wrt, torch.ones_like(y), create_graph=True)


net = MLP()
viscosity = nn.Parameter(torch.tensor(0.05))
opt = torch.optim.Adam([{"params": net.parameters()}, {"params": [viscosity], "lr": 1e-4}], lr=1e-3)
history = []
for it in range(4):
    t = torch.rand(32, 1, requires_grad=True)
    x = (torch.rand(32, 1) * 2 - 1).requires_grad_()
    u = net(t, x)
    u_t, u_x = derivative(u, t, x)
    (u_xx,) = derivative(u_x, x)
    residual = (u_t + u * u_x - viscosity * u_xx).pow(2).mean()
    with torch.no_grad():
        t0, target = torch.zeros_like(t), -torch.sin(3.14159 * x)
    boundary = (net(t0, x.detach()) - target).pow(2).mean()
    opt.zero_grad()
    (residual + boundary).backward()
    opt.step()
    history.append((residual.item(), boundary.item(), viscosity.item()))
print(history[-1])
