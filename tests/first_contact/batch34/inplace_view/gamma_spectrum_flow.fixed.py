"""Normalizing flow over (log) line intensities of gamma spectra, affine couplings."""
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, dim: int, hidden: int, flip: bool):
        super().__init__()
        self.half = dim // 2
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.SiLU(), nn.Linear(hidden, 2 * (dim - self.half)))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half:]
        if self.flip:
            a, b = b, a
        params = self.net(a)
        log_s, t = params.chunk(2, dim=1)
        log_s = 2.0 * torch.tanh(log_s)
        b = b * log_s.exp() + t
        y = torch.cat((b, a) if self.flip else (a, b), dim=1)
        return y, log_s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim=6, n_layers=4, hidden=24):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(dim, hidden, flip=bool(i % 2)) for i in range(n_layers)])
        self.dim = dim

    def log_prob(self, x):
        logdet = x.new_zeros(x.size(0))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        base = -0.5 * (x.pow(2).sum(1) + self.dim * math.log(2 * math.pi))
        return base + logdet


def sample_lines(n):
    activity = torch.randn(n, 2)
    mix = torch.tensor([[1.0, 0.8, 0.5, 0.1, 0.0, 0.0], [0.0, 0.1, 0.4, 1.0, 0.9, 0.3]])
    return torch.tanh(activity @ mix) + 0.1 * torch.randn(n, 6)


if __name__ == "__main__":
    torch.manual_seed(21)
    flow = Flow()
    optim = torch.optim.Adam(flow.parameters(), lr=5e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, 25)
    for step in range(25):
        nll = -flow.log_prob(sample_lines(64)).mean()
        optim.zero_grad(set_to_none=True)
        nll.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        optim.step()
        sched.step()
        if step % 8 == 0:
            print(f"{step:3d}  nll {nll.item():.3f}")
