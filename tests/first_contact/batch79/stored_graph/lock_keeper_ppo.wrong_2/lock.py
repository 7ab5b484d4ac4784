import numpy as np
import torch


class Lock:
    """Boats wait above and below; opening for one side lets the water change its level."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.above, self.below, self.high, self.clock = 0, 0, True, 0

    def reset(self):
        self.above, self.below, self.high, self.clock = 3, 2, True, 0
        return self._view()

    def _view(self):
        return torch.tensor([self.above / 5, self.below / 5, float(self.high), self.clock / 50])

    def open(self, action):
        moved = 0
        if action == 0 and self.high:
            moved, self.above = min(self.above, 2), max(self.above - 2, 0)
            self.high = False
        elif action == 1 and not self.high:
            moved, self.below = min(self.below, 2), max(self.below - 2, 0)
            self.high = True
        elif action == 2:
            self.high = not self.high
        self.above = min(self.above + int(self.rng.random() < 0.4), 8)
        self.below = min(self.below + int(self.rng.random() < 0.4), 8)
        self.clock += 1
        return self._view(), moved - 0.1 * (self.above + self.below)
