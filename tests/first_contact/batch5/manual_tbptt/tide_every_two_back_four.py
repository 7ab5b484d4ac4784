# expect: pattern = manual-tbptt
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = links, window, self.links, state, new
"""Tide gauge: truncated BPTT by hand. A walk every K1 steps, K2 steps deep; one update a day of readings."""
import math

import torch
import torch.nn as nn

K1, K2, DAY = 2, 4, 12


class Gauge(nn.Module):
    def __init__(self, h=10):
        super().__init__()
        self.cell = nn.RNNCell(1, h)
        self.read = nn.Linear(h, 1)

    def forward(self, level, state):
        new = self.cell(level, state)
        return self.read(new), new


class Window:
    """The last K2 (state in, state out) pairs; gradients are handed from pair to pair."""

    def __init__(self, depth):
        self.depth, self.links = depth, []

    def add(self, state, new):
        self.links = (self.links + [(state, new)])[-self.depth:]

    def walk(self, loss):
        loss.backward()  # expect: place
        for (_, earlier), (state, _) in zip(self.links[-2::-1], self.links[:0:-1]):
            earlier.backward(state.grad)  # expect: place
            state.grad = None
        self.links[0][0].grad = None


def readings(days):
    t = torch.arange(days * DAY + 1.0)
    level = torch.sin(2 * math.pi * t / 12.4) + 0.5 * torch.sin(2 * math.pi * t / 24.0)
    return level[:, None, None]


torch.manual_seed(31)
gauge = Gauge()
optimizer = torch.optim.RMSprop(gauge.parameters(), lr=2e-3)
series = readings(5)
state = torch.zeros(1, 10)
for day in range(5):
    window = Window(K2)
    optimizer.zero_grad()
    total = 0.0
    for n in range(DAY):
        t = day * DAY + n
        state = state.detach().requires_grad_()
        out, new = gauge(series[t], state)
        window.add(state, new)
        if (n + 1) % K1 == 0:
            loss = (out - series[t + 1]).pow(2).mean()
            window.walk(loss)
            total += loss.item()
        state = new
    optimizer.step()
    print("day", day, round(total / (DAY // K1), 4))
