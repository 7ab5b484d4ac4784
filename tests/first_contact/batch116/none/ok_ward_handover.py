"""Forecast the load of hospital wards, shift after shift, with a state that is handed over."""

from collections import deque

import torch
from torch import nn

WARDS = 5
FEATURES = 4


class Handover:
    """What one shift leaves to the next: the state, and a digest of the last few shifts."""

    def __init__(self, keep):
        self._state = None
        self._digests = deque(maxlen=keep)

    @property
    def state(self):
        return self._state

    @state.setter
    def state(self, value):
        self._state = value if value is None else value.clone().detach_()
        if value is not None:
            self._digests.append(self._state.mean(dim=1))

    def digest(self):
        if not self._digests:
            return torch.zeros(WARDS)
        return torch.stack(list(self._digests)).mean(dim=0)


class LoadModel(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(hidden))
        self.cell = nn.GRUCell(FEATURES + 1, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, hours, handover):
        h = handover.state
        if h is None:
            h = self.start.expand(WARDS, -1)
        memo = handover.digest().unsqueeze(1)
        loads = []
        for hour in hours:
            h = self.cell(torch.cat([hour, memo], dim=1), h)
            loads.append(self.out(h).squeeze(1))
        handover.state = h
        return torch.stack(loads)


def shifts(count, seed, hours=6):
    gen = torch.Generator().manual_seed(seed)
    load = torch.rand(WARDS, generator=gen)
    for _ in range(count):
        x = torch.randn(hours, WARDS, FEATURES, generator=gen)
        y = []
        for hour in x:
            load = 0.8 * load + 0.2 * hour[:, 0].tanh() + 0.05 * hour[:, 1]
            y.append(load)
        yield x, torch.stack(y)


class Tally:
    """Exponential mean of the loss, corrected for its start, as a tensor on the device."""

    def __init__(self, rate=0.9):
        self.rate = rate
        self.mean = torch.zeros(())
        self.seen = 0

    def __iadd__(self, loss):
        with torch.no_grad():
            self.mean = self.rate * self.mean + (1 - self.rate) * loss
        self.seen += 1
        return self

    @property
    def value(self):
        return (self.mean / (1 - self.rate**self.seen)).item()


def train(model, weeks=3):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    tally = Tally()
    for week in range(weeks):
        handover = Handover(keep=4)
        for x, y in shifts(14, seed=week):
            loss = (model(x, handover) - y).square().mean()
            tally += loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"week {week}  loss {tally.value:.4f}")


if __name__ == "__main__":
    torch.manual_seed(13)
    train(LoadModel())
