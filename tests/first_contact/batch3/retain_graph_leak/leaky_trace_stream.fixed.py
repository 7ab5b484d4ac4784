"""Streaming anomaly score: a leaky trace of embedded readings, scored after every reading."""
import itertools

import torch
import torch.nn as nn


class Trace(nn.Module):
    """trace <- decay * trace + embedding(reading)"""

    def __init__(self, sensors, width, decay=0.7):
        super().__init__()
        self.embedding = nn.Linear(sensors, width)
        self.decay = decay

    def forward(self, reading, trace):
        return self.decay * trace + self.embedding(reading)


class Forecaster(nn.Module):
    def __init__(self, sensors, width=12):
        super().__init__()
        self.trace = Trace(sensors, width)
        self.head = nn.Linear(width, sensors)
        self.width = width

    def start(self):
        return {"trace": torch.zeros(1, self.width), "n": 0}

    def advance(self, state, reading):
        return {"trace": self.trace(reading, state["trace"].detach()), "n": state["n"] + 1}

    def forecast(self, state):
        return self.head(state["trace"])


def plant(seed=0):
    gen = torch.Generator().manual_seed(seed)
    for t in itertools.count():
        phase = torch.tensor([0.2 * t, 0.31 * t, 0.05 * t])
        yield (phase.sin() + 0.05 * torch.randn(3, generator=gen))[None]


def monitor(model, readings, steps=40, report=10):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    state, scores = model.start(), []
    previous = next(readings)
    for reading in itertools.islice(readings, steps):
        state = model.advance(state, previous)
        loss = (model.forecast(state) - reading).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(loss.item())
        if state["n"] % report == 0:
            yield state["n"], sum(scores[-report:]) / report
        previous = reading


if __name__ == "__main__":
    torch.manual_seed(60)
    for n, score in monitor(Forecaster(3), plant()):
        print(f"after {n:3d} readings: {score:.4f}")
