"""Thermal properties of permafrost from a borehole's thermistor string.

Explicit heat conduction on a column of 20 nodes whose conductivity changes as the ground freezes;
conductivities, the freezing range and the geothermal flux are fitted to a year of readings.
"""
import math

import torch
from torch.nn import Parameter, ParameterDict

NODES, DZ = 20, 0.25       # metres
DT = 1.0                   # days
STRING = [2, 4, 7, 11, 16]  # nodes with a thermistor


def air(days):
    t = torch.arange(days)
    weather = torch.sin(t * 0.9) + torch.sin(t * 0.37)
    return -4 - 14 * torch.cos(2 * math.pi * t / 365) + 1.5 * weather


def start():
    return torch.linspace(-9.0, -4.0, NODES)


class Column:
    def __init__(self, frozen=0.018, thawed=0.010, sharp=1.0, geo=0.0):
        self.p = ParameterDict({
            "log_frozen": Parameter(torch.tensor(math.log(frozen))),
            "log_thawed": Parameter(torch.tensor(math.log(thawed))),
            "log_sharp": Parameter(torch.tensor(math.log(sharp))),
            "geo": Parameter(torch.tensor(geo)),
        })

    def conductivity(self, temp):
        """Between the nodes, in m²/day: liquid below lowers what ice conducts."""
        thaw = torch.sigmoid(self.p["log_sharp"].exp() * temp)
        nodes = self.p["log_frozen"].exp() * (1 - thaw) + self.p["log_thawed"].exp() * thaw
        return 0.5 * (nodes[1:] + nodes[:-1])

    def run(self, temp, surface):
        """Readings of the string, day by day, and the column on the last day."""
        readings = []
        for today in surface:
            temp = torch.cat([today.view(1), temp[1:]])
            flux = self.conductivity(temp) * (temp[1:] - temp[:-1]) / DZ
            inner = temp[1:-1] + DT * (flux[1:] - flux[:-1]) / DZ
            foot = inner[-1:] + DZ * self.p["geo"]
            temp = torch.cat([temp[:1], inner, foot])
            readings.append(temp[STRING])
        return torch.stack(readings), temp

    def describe(self):
        p = {name: value.item() for name, value in self.p.items()}
        return (f"frozen {math.exp(p['log_frozen']):.4f} thawed {math.exp(p['log_thawed']):.4f} "
                f"range {1 / math.exp(p['log_sharp']):.2f} K geo {p['geo']:+.3f} K/m")


def observe(surface):
    """Readings of the true column, with the thermistors' noise."""
    truth = Column(frozen=0.025, thawed=0.008, sharp=2.5, geo=0.3)
    with torch.no_grad():
        readings, _ = truth.run(start(), surface)
    return readings + 0.05 * torch.randn_like(readings)


def fit(seen, surface, rounds=15):
    column = Column()
    optimizer = torch.optim.Adam(column.p.parameters(), lr=0.05)
    for number in range(1, rounds + 1):
        model, _ = column.run(start(), surface)
        residual = model - seen
        loss = residual[20:].pow(2).mean()  # spin-up is left out
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 5 == 0:
            worst = residual.detach().abs().mean(0).max().item()
            print(f"round {number}: mse {loss.item():.4f} worst sensor {worst:.3f} K, {column.describe()}")
    return column


def forecast(column, warming=2.0, days=200):
    with torch.no_grad():
        _, end = column.run(start(), air(days) + warming)
    thawed = (end > 0).nonzero()
    return DZ * thawed.max().item() if len(thawed) else 0.0


if __name__ == "__main__":
    torch.manual_seed(2)
    surface = air(120)
    column = fit(observe(surface), surface)
    print(f"thaw depth after warming: {forecast(column):.2f} m")
