# expect: pattern = grad-then-backward
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = u, w, slope, moment, shear, load, q, d3, d4, dw, ddw, dddw, ddddw
# Euler-Bernoulli beam, clamped at the left end, with a spread load: EI w'''' = q(x)
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class PINN(nn.Module):
    def __init__(self, n=20):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(1, n), nn.Tanh(), nn.Linear(n, n), nn.Tanh(), nn.Linear(n, 1))

    def forward(self, x):
        return self.model(x)


def grad(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]


EI, q0 = 1.0, 1.0
x_int = torch.from_numpy(np.linspace(0, 1, 40)).reshape(-1, 1).requires_grad_(True)
x_left = torch.zeros(1, 1, requires_grad=True)
x_right = torch.ones(1, 1, requires_grad=True)
q = q0 * torch.sin(np.pi * x_int.detach())

net = PINN()
optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)

for i in range(20):
    optimiser.zero_grad()

    # inside
    w = net(x_int)
    dw = grad(w, x_int)
    ddw = grad(dw, x_int)
    dddw = grad(ddw, x_int)
    ddddw = torch.autograd.grad(dddw, x_int, grad_outputs=torch.ones_like(dddw))[0]  # expect: place
    residual = EI * ddddw - q
    # the shear goes in as well, it is what the strain gauges measure
    shear = -EI * dddw  # expect: place
    loss_int = (residual ** 2).mean() + 0.1 * ((shear[-1]) ** 2).mean()

    # clamped end: no deflection, no slope
    wl = net(x_left)
    loss_left = (wl ** 2 + grad(wl, x_left) ** 2).sum()

    # free end: no moment
    wr = net(x_right)
    loss_right = (grad(grad(wr, x_right), x_right) ** 2).sum()

    loss = loss_int + loss_left + loss_right
    loss.backward()  # expect: place
    optimiser.step()
    if i % 5 == 0:
        print(i, loss.item())
