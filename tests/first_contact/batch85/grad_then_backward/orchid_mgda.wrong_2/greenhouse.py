import torch
from torch import nn


class OrchidNet(nn.Module):
    """Weeks of readings in; when it will flower and whether the roots rot out."""

    def __init__(self, readings, width=20):
        super().__init__()
        self.encoder = nn.GRU(readings, width, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.SiLU())
        self.flowering = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.rot = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def represent(self, x):
        _, last = self.encoder(x)
        return self.mix(last[0])

    def forward(self, x):
        shared = self.represent(x).detach().requires_grad_()
        return self.flowering(shared).squeeze(-1), self.rot(shared).squeeze(-1), shared


def pots(count, weeks=10, readings=4, generator=None):
    x = torch.randn(count, weeks, readings, generator=generator).cumsum(1) / weeks**0.5
    flowering = x[:, -4:, 0].mean(1) - 0.5 * x[:, -1, 2]
    rot = ((x[..., 1].mean(1) + 0.3 * flowering) > 0.2).float()
    return x, flowering, rot
