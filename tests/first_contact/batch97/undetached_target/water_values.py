# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = target, best, options, bellman
"""Water values of a hydropower reservoir by fitted value iteration.

State: storage and the log of the spot price. Every week the plant releases one of a few volumes;
inflow and price of the next week are uncertain. The slope of the value in the storage is the
water value, against which the trading desk bids.
"""
from typing import NamedTuple

import torch
from torch import nn
import torch.nn.functional as F

GAMMA = 0.92
RELEASES = torch.tensor([0.0, 0.1, 0.2, 0.3])


class State(NamedTuple):
    storage: torch.Tensor
    price: torch.Tensor  # log, about zero

    def features(self):
        return torch.stack([2 * self.storage - 1, self.price, self.storage * self.price], -1)


class ValueNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Softplus(), nn.Linear(width, width),
                                 nn.Softplus(), nn.Linear(width, 1))

    def forward(self, state):
        return self.net(state.features()).squeeze(-1)


class River:
    """Lumpy inflow, mean-reverting price; what does not fit in the reservoir is spilt."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def draw(self, count):
        storage = torch.rand(count, generator=self.generator)
        price = 0.4 * torch.randn(count, generator=self.generator)
        return State(storage, price)

    def weather(self, *shape):
        """Inflow of the week, and what the price will be moved by."""
        inflow = -0.12 * torch.log(torch.rand(shape, generator=self.generator))
        return inflow, 0.3 * torch.randn(shape, generator=self.generator)

    def week(self, state, release, weather):
        """Income and the next state; more than is there cannot be released."""
        inflow, push = weather
        volume = torch.minimum(release, state.storage)
        income = volume * state.price.exp()
        storage = (state.storage - volume + inflow).clamp(max=1.0)
        price = 0.7 * state.price + push
        return income, State(storage, price)


def bellman(values, river, state, draws=8):
    """The release that is best on average over a few draws of the coming week."""
    many = State(*(part.expand(draws, -1) for part in state))
    weather = river.weather(draws, len(state.storage))
    options = []
    for release in RELEASES:
        income, after = river.week(many, release, weather)
        options.append((income + GAMMA * values(after)).mean(0))  # expect: place
    best = torch.stack(options).max(0)  # expect: place
    return best.values, RELEASES[best.indices]  # expect: place


def fit(values, river, weeks, batch, lr):
    optimizer = torch.optim.Adam(values.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, weeks)
    trace = []
    for it in range(weeks):
        state = river.draw(batch)
        target, release = bellman(values, river, state)  # expect: place
        loss = F.mse_loss(values(state), target)  # expect: place
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        schedule.step()
        trace.append(loss.item())
        if it % 100 == 99:
            print(f"{it + 1:4d} bellman error {sum(trace[-100:]) / 100:.4f} "
                  f"mean release {release.mean():.3f}")
    return trace


def water_values(values, price=0.0, points=5):
    """Derivative of the value in the storage, at a few storages."""
    storage = torch.linspace(0.1, 0.9, points, requires_grad=True)
    value = values(State(storage, torch.full((points,), price)))
    return torch.autograd.grad(value.sum(), storage)[0]


@torch.no_grad()
def simulate(values, river, plants=64, weeks=40):
    state, income = river.draw(plants), torch.zeros(plants)
    for week in range(weeks):
        _, release = bellman(values, river, state)
        earned, state = river.week(state, release, river.weather(plants))
        income += GAMMA**week * earned
    return income.mean().item()


def main():
    torch.manual_seed(90)
    values = ValueNet()
    river = River(seed=90)
    print(f"income of an untrained policy {simulate(values, River(7)):.3f}")
    fit(values, river, weeks=500, batch=64, lr=2e-2)
    grid = River(5).draw(256)
    print(f"income {simulate(values, River(7)):.3f}, promised {values(grid).mean().item():.3f}")
    print("water values", [round(v, 3) for v in water_values(values).tolist()])


if __name__ == "__main__":
    main()
