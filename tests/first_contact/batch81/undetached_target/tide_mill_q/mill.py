from collections import deque
import random

import torch


class Mill:
    """A pond behind a gate: filled by the flood, ground away on the ebb."""

    def __init__(self, generator):
        self.generator = generator
        self.pond, self.hour = 0.5, 0

    def state(self):
        angle = torch.tensor(2 * torch.pi * self.hour / 12)
        return torch.stack([angle.sin(), angle.cos(), torch.tensor(self.pond)])

    def step(self, gate):
        sea = 0.5 + 0.5 * self.state()[0].item()
        flour = 0.0
        if gate == 1 and sea > self.pond:
            self.pond += 0.5 * (sea - self.pond)
        elif gate == 2 and sea < self.pond:
            flour = self.pond - sea
            self.pond -= 0.5 * flour
        self.hour = (self.hour + 1) % 12
        return flour + 0.01 * torch.randn((), generator=self.generator).item()


class Memory:
    def __init__(self, capacity, seed):
        self.rows = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def push(self, *row):
        self.rows.append(row)

    def sample(self, n):
        state, gate, reward, after = zip(*self.rng.sample(list(self.rows), n))
        return torch.stack(state), torch.tensor(gate), torch.tensor(reward), torch.stack(after)
