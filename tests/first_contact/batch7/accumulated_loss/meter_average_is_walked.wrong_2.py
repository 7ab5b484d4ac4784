"""Tide-mill scheduling: gate opening and power are predicted together, each error with its meter."""
import torch
from torch import nn
from torch.nn import functional as F


class Meter:
    def __init__(self, weight):
        self.weight, self.total, self.count = weight, 0.0, 0

    def add(self, value):
        self.total = self.total + self.weight * value.detach()
        self.count += 1

    @property
    def average(self):
        return self.total / self.count


class Mill(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 24), nn.GELU(), nn.Linear(24, 24), nn.GELU())
        self.gate, self.power = nn.Linear(24, 1), nn.Linear(24, 1)

    def forward(self, tide):
        h = self.body(tide)
        return torch.sigmoid(self.gate(h)), self.power(h)


def tides(batches, size=20):
    for _ in range(batches):
        tide = torch.randn(size, 5)
        head = (tide[:, :1] - tide[:, 1:2]).abs()
        yield tide, (head > 1).float(), head * 0.7


def run():
    torch.manual_seed(31)
    mill = Mill()
    opt = torch.optim.AdamW(mill.parameters(), lr=2e-3)
    for month in range(2):
        meters = {"gate": Meter(1.0), "power": Meter(0.5)}
        for tide, wanted, watts in tides(5):
            gate, power = mill(tide)
            meters["gate"].add(F.binary_cross_entropy(gate, wanted))
            meters["power"].add(F.smooth_l1_loss(power, watts))
            objective = sum(m.average for m in meters.values())
            opt.zero_grad()
            objective.requires_grad_().backward()
            opt.step()
        print(month, {name: round(float(m.average), 4) for name, m in meters.items()})


run()
