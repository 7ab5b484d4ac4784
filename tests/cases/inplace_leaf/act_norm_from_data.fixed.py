import torch
from torch import nn
import math


class ActNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.loc, self.log_scale = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(d))
        self.ready = False

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.loc.copy_(-x.mean(0))
                self.log_scale.copy_(-x.std(0).log())
            self.ready = True
        return (x + self.loc) * self.log_scale.exp(), self.log_scale.sum()


class Coupling(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d // 2, 16), nn.ReLU(), nn.Linear(16, d))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        return torch.cat([b * s.exp() + t, a], 1), s.sum(1)


class Glow(nn.Module):
    def __init__(self, d=4, k=2):
        super().__init__()
        self.steps = nn.ModuleList(m for _ in range(k) for m in (ActNorm(d), Coupling(d)))

    def log_prob(self, x):
        total = 0
        for step in self.steps:
            x, ld = step(x)
            total = total + ld
        return -0.5 * (x ** 2 + math.log(2 * math.pi)).sum(1) + total


torch.manual_seed(0)
flow = Glow()
opt = torch.optim.Adam(flow.parameters(), 1e-3)
for i in range(3):
    loss = -flow.log_prob(torch.randn(32, 4) * 2 + 1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, loss.item())
