# expect: pattern = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.bank, bank, self.centres, self.widths
"""Church bells: a bank of learnable Gaussian bands over the spectrum, then the bell's weight class."""
from functools import cached_property

import torch
from torch import nn


class Bands(nn.Module):
    def __init__(self, bands=9, bins=64):
        super().__init__()
        self.centres = nn.Parameter(torch.linspace(0.1, 0.9, bands))
        self.widths = nn.Parameter(torch.full((bands,), -2.5))
        self.register_buffer("axis", torch.linspace(0, 1, bins))

    @cached_property  # expect: place
    def bank(self):  # expect: place
        far = (self.axis[None] - self.centres[:, None]) / self.widths.exp()[:, None]  # expect: place
        bumps = torch.exp(-0.5 * far.pow(2))  # expect: place
        return bumps / bumps.sum(1, keepdim=True)  # expect: place

    def forward(self, power):
        return torch.log1p(power @ self.bank.T)  # expect: place


def strikes(n, bins=64):
    kind = torch.randint(3, (n,))
    axis = torch.linspace(0, 1, bins)
    hum = 0.25 + 0.2 * kind[:, None].float()
    return 8 * torch.exp(-((axis - hum) / 0.06) ** 2) + torch.rand(n, bins), kind


torch.manual_seed(21)
bells = nn.Sequential(Bands(), nn.Linear(9, 3))
adam = torch.optim.Adam(bells.parameters(), lr=1e-2)
score = nn.CrossEntropyLoss()
for peal in range(25):
    power, kind = strikes(16)
    adam.zero_grad(set_to_none=True)
    out = score(bells(power), kind)
    out.backward()
    adam.step()
    if peal % 5 == 0:
        print(f"peal {peal}: {out.item():.4f}")
