import random

import torch


class Reservoir:
    """Keeps a uniform sample of all that has been seen: picture, label and what the net said."""

    def __init__(self, capacity, seed=0):
        self.capacity, self.seen = capacity, 0
        self.rows = []
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.rows)

    def add(self, x, y, said):
        for row in zip(x, y, said):
            self.seen += 1
            if len(self.rows) < self.capacity:
                self.rows.append(row)
            else:
                slot = self.rng.randrange(self.seen)
                if slot < self.capacity:
                    self.rows[slot] = row

    def draw(self, n):
        rows = self.rng.sample(self.rows, min(n, len(self.rows)))
        x, y, said = zip(*rows)
        return torch.stack(x), torch.stack(y), torch.stack(said)
