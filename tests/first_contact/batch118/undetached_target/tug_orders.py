# expect: pattern = undetached-target
# expect: raises = nothing
# expect: carrier = later, goal
"""Which tug to send to which ship: values learnt from logged orders, with a lagging copy."""

import copy
import random
from collections import deque
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

SIGHT, TUGS = 6, 4


class Order(NamedTuple):
    before: torch.Tensor
    tug: int
    saved: float
    after: torch.Tensor
    over: bool


class Harbour:
    """A toy harbour: a tug is worth what its berth is near to, and the tide moves on."""

    def __init__(self, seed):
        self.dice = torch.Generator().manual_seed(seed)
        self.berths = torch.randn(TUGS, SIGHT, generator=self.dice)

    def arrivals(self, count):
        here = torch.randn(SIGHT, generator=self.dice)
        for number in range(count):
            tug = int(torch.randint(TUGS, (1,), generator=self.dice))
            drift = 0.3 * torch.randn(SIGHT, generator=self.dice)
            there = 0.8 * here + drift + 0.1 * self.berths[tug]
            saved = torch.tanh(here @ self.berths[tug]).item()
            yield Order(here, tug, saved, there, number % 10 == 9)
            here = there


class Dispatcher(nn.Module):
    def __init__(self, patience=0.9, lag=0.2):
        super().__init__()
        self.values = nn.Sequential(nn.Linear(SIGHT, 24), nn.ReLU(), nn.Linear(24, TUGS))
        self.lagging = copy.deepcopy(self.values)  # expect: place
        self.patience = patience
        self.lag = lag

    def loss(self, before, tug, saved, after, over):
        now = self.values(before).gather(1, tug[:, None]).squeeze(1)
        choice = self.values(after).argmax(dim=1, keepdim=True)
        later = self.lagging(after).gather(1, choice).squeeze(1)  # expect: place
        goal = saved + self.patience * later * (~over)  # expect: place
        return F.smooth_l1_loss(now, goal)  # expect: place

    @torch.no_grad()
    def follow(self):
        for old, new in zip(self.lagging.parameters(), self.values.parameters()):
            old.lerp_(new, self.lag)


def collate(orders):
    return (
        torch.stack([order.before for order in orders]),
        torch.tensor([order.tug for order in orders]),
        torch.tensor([order.saved for order in orders]),
        torch.stack([order.after for order in orders]),
        torch.tensor([order.over for order in orders]),
    )


def main():
    torch.manual_seed(31)
    draw = random.Random(31)
    dispatcher = Dispatcher()
    optimizer = torch.optim.Adam(dispatcher.parameters(), lr=5e-3)  # expect: place
    log = deque(maxlen=200)
    for number, order in enumerate(Harbour(seed=9).arrivals(120)):
        log.append(order)
        if len(log) < 40 or number % 4:
            continue
        loss = dispatcher.loss(*collate(draw.sample(list(log), 32)))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(dispatcher.values.parameters(), 5.0)
        optimizer.step()
        dispatcher.follow()
        if number % 20 == 0:
            print(f"order {number}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
