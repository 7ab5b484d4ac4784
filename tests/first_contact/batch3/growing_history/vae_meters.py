# expect: pattern = growing-history
# expect: raises = nothing
# expect: carrier = total, self.total, meters
"""VAE on toy digits: a meter per quantity, filled by whatever the loss generator yields."""
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class Meter:
    __slots__ = ("total", "count")

    def __init__(self):
        self.total, self.count = 0, 0

    def add(self, value, n=1):
        self.total += value * n  # expect: place
        self.count += n

    @property
    def mean(self):
        total = self.total.item() if torch.is_tensor(self.total) else self.total
        return total / max(self.count, 1)


class Meters(OrderedDict):
    def __missing__(self, key):
        self[key] = Meter()
        return self[key]

    def __str__(self):
        return "  ".join(f"{k} {m.mean:.3f}" for k, m in self.items())


class VAE(nn.Module):
    def __init__(self, d=25, z=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 32), nn.ReLU(), nn.Linear(32, d))

    def terms(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        yield "rec", F.binary_cross_entropy_with_logits(self.dec(z), x, reduction="sum") / len(x)
        yield "kl", -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(x)


def glyphs(n):
    base = (torch.arange(25).view(1, 25) % torch.randint(2, 5, (n, 1)) == 0).float()
    return (base + (torch.rand(n, 25) < 0.05)).clamp(max=1)


def main(iterations=36):
    torch.manual_seed(4)
    vae = VAE()
    optimizer = torch.optim.Adam(vae.parameters(), lr=3e-3)
    meters = Meters()
    for it in range(iterations):
        x = glyphs(24)
        loss = 0
        for name, value in vae.terms(x):
            meters[name].add(value, len(x))  # expect: place
            loss = loss + value
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(meters)


if __name__ == "__main__":
    main()
