# expect: pattern = none
# expect: raises = nothing
import torch
from torch import nn


class RunningNorm(nn.Module):
    def __init__(self, dim, momentum=0.1):
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("var", torch.ones(dim))
        self.gain = nn.Parameter(torch.ones(dim))
        self.momentum = momentum

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(0), self.momentum)
                self.var.mul_(1 - self.momentum).add_(self.momentum * x.var(0))
        return self.gain * (x - self.mean) / (self.var + 1e-5).sqrt()


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(6, 10), RunningNorm(10), nn.Tanh(), nn.Linear(10, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for i in range(6):
    x = 3 * torch.randn(32, 6) + 1
    loss = (model(x) - x[:, :1].sin()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item(), model[1].mean.norm().item())
