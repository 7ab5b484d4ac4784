# expect: pattern = starved-parameter
# expect: raises = nothing
# expect: carrier = levels
import torch
from torch import nn


class FakeQuant(nn.Module):
    """Eight-bit weights with a learnt step size."""

    def __init__(self, bits=8):
        super().__init__()
        self.lo, self.hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        self.log_step = nn.Parameter(torch.tensor(-3.0))

    def forward(self, w):
        step = self.log_step.exp()
        levels = torch.round(w / step).clamp(self.lo, self.hi)  # expect: place
        return levels


class QLinear(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o, bias=False)
        self.quant = FakeQuant()

    def forward(self, x):
        return nn.functional.linear(x, self.quant(self.weight)) / 16


class Config:
    steps, lr, width = 5, 1e-2, 12


def build(cfg):
    return nn.Sequential(QLinear(6, cfg.width), nn.ReLU(), QLinear(cfg.width, 1))


def fit(cfg):
    torch.manual_seed(0)
    net = build(cfg)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        x = torch.randn(32, 6)
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    return net


fit(Config)
