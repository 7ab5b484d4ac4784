"""A street of nine blocks under snowfall; the plough moves or clears."""
import numpy as np

BLOCKS = 9
LEFT, CLEAR, RIGHT = range(3)


class Street:
    def __init__(self, seed, hours=24):
        self.rng = np.random.default_rng(seed)
        self.hours = hours
        self.traffic = np.linspace(0.5, 1.5, BLOCKS)

    def reset(self):
        self.snow = self.rng.uniform(0, 0.5, BLOCKS)
        self.at = int(self.rng.integers(BLOCKS))
        self.hour = 0
        return self.view()

    def view(self):
        here = np.zeros(BLOCKS)
        here[self.at] = 1.0
        return np.concatenate([self.snow, here]).astype(np.float32)

    def step(self, action):
        if action == CLEAR:
            self.snow[self.at] = 0.0
        else:
            self.at = int(np.clip(self.at + (1 if action == RIGHT else -1), 0, BLOCKS - 1))
        self.snow += self.rng.uniform(0, 0.08, BLOCKS)
        self.hour += 1
        delay = -float((self.traffic * self.snow ** 2).mean())
        return self.view(), delay, self.hour >= self.hours
