# expect: pattern = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = u
import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class Ansatz(nn.Module):
    """u(x) that is zero at both ends of [0, 1]."""

    def __init__(self, width=16):
        super().__init__()
        self.hidden = nn.Linear(1, width)
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        u = torch.tanh(self.last(torch.tanh(self.hidden(x))))  # expect: place
        u *= x * (1 - x)  # expect: place
        return u


model = Ansatz()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.linspace(0, 1, 21).unsqueeze(1).requires_grad_()
forcing = torch.sin(3.14159 * x.detach())

for it in range(4):
    u = model(x)
    du = grad(u.sum(), x, create_graph=True)[0]  # expect: place
    d2u = grad(du.sum(), x, create_graph=True)[0]
    residual = (d2u + forcing).pow(2).mean()
    optimizer.zero_grad()
    residual.backward()
    optimizer.step()
    print(f"{it} residual {residual.item():.6f}")
