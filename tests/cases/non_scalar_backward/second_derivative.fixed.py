import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(0)


class PINN(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, xt):
        return self.net(xt)


def residual(model, x, t):
    xt = torch.cat([x, t], dim=1)
    u = model(xt)
    u_t = grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_x = grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_t - 0.1 * u_xx


model = PINN()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for ep in range(3):
    x = torch.rand(24, 1, requires_grad=True)
    t = torch.rand(24, 1, requires_grad=True)
    loss = residual(model, x, t).pow(2).mean()
    ic = (model(torch.cat([x, torch.zeros_like(t)], 1)) - torch.sin(x)).pow(2).mean()
    opt.zero_grad()
    (loss + ic).backward()
    opt.step()
    print(ep, loss.item())
