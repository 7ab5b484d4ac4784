"""A pump controller for espresso, trained through a model of puck and boiler.

The model is smooth, so that the cost of a shot can be followed back to the controller.
"""
import math
from collections import deque

import torch
import torch.nn as nn
from torch.distributions import Normal


class Machine:
    """Water soaks the puck, its resistance falls as it erodes, and solubles leave with the flow."""

    def __init__(self, shots, dt=0.5):
        self.dt = dt
        self.grind = 0.8 + 0.4 * torch.rand(shots)
        self.soaked = torch.zeros(shots)
        self.cup = torch.zeros(shots)
        self.solubles = torch.ones(shots)

    def observe(self):
        return torch.stack([self.soaked, self.cup / 30, self.solubles, self.grind], -1)

    def pull(self, pressure):
        resistance = self.grind * (2.0 + 1.5 * self.soaked)
        flow = pressure / resistance
        self.soaked = self.soaked + self.dt * 0.6 * (1 - self.soaked) * torch.tanh(flow)
        self.cup = self.cup + self.dt * flow * self.soaked
        washed = self.dt * 0.08 * flow * self.solubles
        self.solubles = self.solubles - washed
        return flow


class Barista(nn.Module):
    def __init__(self, width=16, top=9.0):
        super().__init__()
        self.top = top
        self.mean = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))
        self.log_std = nn.Parameter(torch.tensor(math.log(0.4)))

    def dist(self, seen):
        return Normal(self.mean(seen).squeeze(-1), self.log_std.exp())

    def forward(self, seen):
        dist = self.dist(seen)
        action = dist.mean
        return self.top * torch.sigmoid(action)


def shot(barista, machine, seconds=8.0):
    before = torch.zeros_like(machine.cup)
    costs = []
    for _ in range(int(seconds / machine.dt)):
        pressure = barista(machine.observe())
        flow = machine.pull(pressure)
        jerk = (pressure - before).square()
        costs.append(0.002 * jerk + 0.05 * (flow - 1.8).square())
        before = pressure
    wrong_yield = (machine.solubles - 0.55).square()
    wrong_weight = ((machine.cup - 12) / 12).square()
    return torch.stack(costs).mean(0) + 4 * wrong_yield + wrong_weight


def main(updates=25, shots=24):
    torch.manual_seed(5)
    barista = Barista()
    opt = torch.optim.Adam(barista.parameters(), lr=0.02)
    recent = deque(maxlen=5)
    for update in range(1, updates + 1):
        barista.train()
        cost = shot(barista, Machine(shots)).mean()
        opt.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(barista.parameters(), 5.0)
        opt.step()
        recent.append(cost.item())
        if update % 5 == 0:
            barista.eval()
            with torch.no_grad():
                steady = shot(barista, Machine(shots)).mean().item()
            print(f"{update:3d} cost {sum(recent) / len(recent):.4f} steady hand {steady:.4f} "
                  f"std {barista.log_std.exp().item():.3f}")


if __name__ == "__main__":
    main()
