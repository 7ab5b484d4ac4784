# expect: pattern = missing-zero-grad
# expect: raises = nothing
# expect: carrier = head
"""Photometric redshifts of quasars: an encoder of five bands and a mixture density head."""
import math

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, bands=5, dim=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(bands, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())

    def forward(self, mags):
        colours = mags - mags.mean(1, keepdim=True)
        return self.net(colours)


class MixtureHead(nn.Module):
    def __init__(self, dim=24, parts=3):
        super().__init__()
        self.logits = nn.Linear(dim, parts)
        self.mean = nn.Linear(dim, parts)
        self.log_std = nn.Linear(dim, parts)

    def nll(self, h, z):
        log_w = self.logits(h).log_softmax(-1)
        log_s = self.log_std(h).clamp(-3, 2)
        u = (z.unsqueeze(1) - self.mean(h)) / log_s.exp()
        log_p = -0.5 * u ** 2 - log_s - 0.5 * math.log(2 * math.pi)
        return -torch.logsumexp(log_w + log_p, dim=-1).mean()


def catalogue(n):
    z = torch.rand(n) * 3
    lines = torch.tensor([0.5, 1.1, 1.7, 2.2, 2.8])
    flux = torch.exp(-(z.unsqueeze(1) - lines) ** 2)
    return flux + 0.05 * torch.randn(n, 5), z


def lr_at(step, warm=10, base=0.02):
    return base * min(1.0, (step + 1) / warm)


def fit(steps=60):
    torch.manual_seed(29)
    encoder, head = Encoder(), MixtureHead()
    params = list(encoder.parameters()) + list(head.parameters())
    opt = torch.optim.SGD(params, lr=lr_at(0), momentum=0.8)
    mags, z = catalogue(512)
    for step in range(steps):
        pick = torch.randint(0, len(z), (64,))
        for group in opt.param_groups:
            group["lr"] = lr_at(step)
        opt.zero_grad()  # expect: place
        loss = head.nll(encoder(mags[pick]), z[pick])
        loss.backward()  # expect: place
        opt.step()  # expect: place
        if step % 15 == 0:
            print(f"{step:3d}  nll {loss.item():.3f}")
    with torch.no_grad():
        print("catalogue nll", round(head.nll(encoder(mags), z).item(), 3))


fit()
