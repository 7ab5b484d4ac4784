import torch
from torch import nn

torch.manual_seed(1)


class Heat(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def pde_residual(model, x, t, kappa=0.1):
    u = model(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    u_xx, = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - kappa * u_xx


model = Heat()
adam = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    x = torch.rand(40, 1).requires_grad_()
    t = torch.rand(40, 1).requires_grad_()
    residual = pde_residual(model, x, t)
    initial = model(x, torch.zeros_like(t)) - torch.sin(3.14159 * x)
    loss = residual.square().mean() + initial.square().mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(epoch, loss.item())
