"""Where should the boats fish? Value of the catch against quotas for three protected species.

The quotas come in with prices that rise while a quota is exceeded and fall while there is room.
"""
import numpy as np
import torch
import torch.nn as nn

GROUNDS, PROTECTED = 7, 3
rng = np.random.default_rng(14)
QUOTA = torch.tensor([0.30, 0.25, 0.35])


class Planner(nn.Module):
    """Season and weather to shares of effort over the fishing grounds."""

    def __init__(self, hidden=20):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, hidden), nn.Tanh())
        self.share = nn.Linear(hidden, GROUNDS)
        self.boats = nn.Linear(hidden, 1)

    def forward(self, sea):
        h = self.trunk(sea)
        return torch.softmax(self.share(h), -1) * torch.sigmoid(self.boats(h))


class Waters:
    def __init__(self):
        self.worth = torch.tensor(rng.uniform(0.5, 2.0, (5, GROUNDS)), dtype=torch.float32)
        self.risk = torch.tensor(rng.gamma(1.0, 0.7, (GROUNDS, PROTECTED)), dtype=torch.float32)

    def weeks(self, count):
        return torch.tensor(rng.normal(size=(count, 5)), dtype=torch.float32)

    def value(self, sea, effort):
        return (effort.clamp_min(1e-6).sqrt() * torch.nn.functional.softplus(sea @ self.worth)).sum(-1)

    def bycatch(self, effort):
        return effort @ self.risk


def season(planner, waters, steps=80, price_rate=0.3):
    opt = torch.optim.Adam(planner.parameters(), lr=0.01)
    price = torch.zeros(PROTECTED, requires_grad=True)
    history = []
    for step in range(steps):
        sea = waters.weeks(32)
        effort = planner(sea)
        value = waters.value(sea, effort).mean()
        excess = waters.bycatch(effort).mean(0) - QUOTA
        lagrangian = -value + torch.dot(price, excess)
        opt.zero_grad()
        lagrangian.backward()
        opt.step()
        with torch.no_grad():
            price.add_(price_rate * price.grad)
            price.clamp_(min=0.0)
            price.grad.zero_()
        history.append([value.item(), *excess.tolist()])
        if step % 16 == 15:
            recent = np.mean(history[-16:], axis=0)
            print(f"week {step:3d}  value {recent[0]:.3f}  over quota {np.round(recent[1:], 3)}  "
                  f"prices {np.round(price.tolist(), 2)}")
    return price.detach()


def audit(planner, waters, price):
    with torch.no_grad():
        sea = waters.weeks(400)
        effort = planner(sea)
        over = waters.bycatch(effort).mean(0) - QUOTA
    for species in range(PROTECTED):
        state = "over" if over[species] > 0.01 else "within"
        print(f"species {species}: {over[species]:+.3f} ({state}), price {price[species]:.2f}")
    print("value", round(waters.value(sea, effort).mean().item(), 3))


if __name__ == "__main__":
    torch.manual_seed(14)
    sea_area, fleet = Waters(), Planner()
    audit(fleet, sea_area, season(fleet, sea_area))
