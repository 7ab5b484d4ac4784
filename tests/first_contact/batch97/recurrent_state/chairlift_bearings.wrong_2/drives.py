"""Vibration of chairlift drive stations: slow wear, a few loads, and noise."""
import math
import random

import torch


class Drive:
    """One gearbox. Its wear is what we want to know; only the two accelerometers are seen."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.wear = self.rng.uniform(0.0, 0.3)
        self.phase = self.rng.uniform(0, 2 * math.pi)

    def advance(self):
        self.wear = min(1.0, self.wear + abs(self.rng.gauss(0, 0.004)))
        load = 0.5 + 0.5 * math.sin(self.phase)
        self.phase += 0.21
        axial = load * (0.4 + self.wear) + self.rng.gauss(0, 0.15)
        radial = math.cos(self.phase) * (1 - 0.5 * self.wear) + self.rng.gauss(0, 0.15)
        return (axial, radial), self.wear

    def window(self, length):
        rows, wear = zip(*(self.advance() for _ in range(length)))
        return torch.tensor(rows), torch.tensor(wear)


class Fleet:
    """Stations report when the line is open; each batch is whoever has a new window ready."""

    def __init__(self, names, length, seed):
        self.drives = {name: Drive(f"{name}/{seed}") for name in names}
        self.length = length
        self.rng = random.Random(seed)

    def reports(self, batches, size):
        for _ in range(batches):
            names = self.rng.sample(sorted(self.drives), size)
            windows = [self.drives[name].window(self.length) for name in names]
            yield names, torch.stack([w[0] for w in windows]), torch.stack([w[1] for w in windows])
