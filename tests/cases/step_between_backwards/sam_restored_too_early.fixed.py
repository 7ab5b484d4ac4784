import torch
from torch import nn


class SAM:
    """Sharpness-aware steps: climb, look at the gradient up there, come back, step."""

    def __init__(self, params, base, rho=0.05, **kwargs):
        self.params = list(params)
        self.base = base(self.params, **kwargs)
        self.rho = rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.shifts = [self.rho * p.grad / (norm + 1e-12) for p in self.params]
        for p, shift in zip(self.params, self.shifts):
            p.add_(shift)

    @torch.no_grad()
    def come_back(self):
        for p, shift in zip(self.params, self.shifts):
            p.sub_(shift)


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
sam = SAM(net.parameters(), torch.optim.SGD, lr=0.05)
for step in range(4):
    x = torch.randn(24, 5)
    y = x[:, :1] * x[:, 1:2]

    first = nn.functional.mse_loss(net(x), y)
    sam.base.zero_grad()
    first.backward()
    sam.climb()

    second = nn.functional.mse_loss(net(x), y)
    sam.base.zero_grad()
    second.backward()
    sam.come_back()
    sam.base.step()
    print(step, first.item(), second.item())
