"""Which warbler is it? Learned band filters of unit length, each with a gain, over a short spectrum."""
from functools import lru_cache

import torch
from torch import nn


@lru_cache(maxsize=None)
def unit_rows(bank):
    return bank.gain[:, None] * bank.direction / bank.direction.norm(dim=1, keepdim=True)


class Bank(nn.Module):
    def __init__(self, bands, bins):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(bands, bins))
        self.gain = nn.Parameter(torch.ones(bands))

    def forward(self, spectrum):
        return torch.log1p((spectrum @ unit_rows(self).t()).pow(2))


class Warblers(nn.Module):
    def __init__(self, species=4):
        super().__init__()
        self.bank = Bank(10, 24)
        self.vote = nn.Linear(10, species)

    def forward(self, spectrum):
        return self.vote(self.bank(spectrum))


def recordings(count):
    label = torch.randint(0, 4, (count,))
    centre = 3.0 + 6.0 * label[:, None]
    bins = torch.arange(24.0)
    return torch.exp(-(bins - centre).pow(2) / 8) + 0.1 * torch.rand(count, 24), label


torch.manual_seed(5)
net = Warblers()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for morning in range(8):
    spectrum, label = recordings(32)
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(spectrum), label)
    loss.backward()
    opt.step()
    unit_rows.cache_clear()
    print("morning", morning, f"{loss.item():.4f}")
