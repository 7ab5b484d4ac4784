# expect: pattern = none
# expect: raises = nothing
"""Elastic weight consolidation over wind farms: the power curve of each farm in turn, without forgetting."""
import copy
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Farm:
    name: str
    cut_in: float
    rated: float
    wake: float

    def batch(self, n):
        wind = 2 + 14 * torch.rand(n, 1)
        direction = 2 * torch.pi * torch.rand(n, 1)
        eff = wind * (1 - self.wake * torch.cos(direction) ** 2)
        power = ((eff - self.cut_in) / (self.rated - self.cut_in)).clamp(0, 1) ** 2
        x = torch.cat([wind / 10 - 1, torch.sin(direction), torch.cos(direction),
                       torch.full((n, 1), self.cut_in / 4), torch.full((n, 1), self.rated / 12)], 1)
        return x, power + 0.01 * torch.randn_like(power)


class EWC:
    def __init__(self, model, strength=200.0):
        self.model, self.strength = model, strength
        self.terms = []

    def consolidate(self, farm, samples=40):
        """Diagonal Fisher, one sample at a time, each with a forward of its own."""
        fisher = {n: torch.zeros_like(p) for n, p in self.model.named_parameters()}
        x, y = farm.batch(samples)
        for xi, yi in zip(x.split(1), y.split(1)):
            self.model.zero_grad()
            nn.functional.mse_loss(self.model(xi), yi).backward()
            for n, p in self.model.named_parameters():
                fisher[n] += p.grad.detach() ** 2 / samples
        self.model.zero_grad()
        anchor = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        self.terms.append((fisher, anchor))

    def penalty(self):
        total = torch.zeros(())
        for fisher, anchor in self.terms:
            for n, p in self.model.named_parameters():
                total = total + (fisher[n] * (p - anchor[n]) ** 2).sum()
        return self.strength * total


def score(model, farm):
    model.eval()
    with torch.no_grad():
        x, y = farm.batch(256)
        value = nn.functional.mse_loss(model(x), y).item()
    model.train()
    return value


def main():
    torch.manual_seed(88)
    farms = [Farm("coast", 3.0, 12.0, 0.05), Farm("ridge", 4.0, 13.5, 0.2), Farm("offshore", 3.5, 11.0, 0.3)]
    model = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Dropout(0.05), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    ewc = EWC(model)
    snapshots = {}
    for farm in farms:
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        seen = 0.0
        for it in range(80):
            x, y = farm.batch(64)
            fit = nn.functional.mse_loss(model(x), y)
            loss = fit + ewc.penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen = 0.95 * seen + 0.05 * fit.item()
        ewc.consolidate(farm)
        snapshots[farm.name] = copy.deepcopy(model)
        print(f"after {farm.name:9s} fit {seen:.4f}   all farms:", "  ".join(f"{f.name} {score(model, f):.4f}" for f in farms))


if __name__ == "__main__":
    main()
