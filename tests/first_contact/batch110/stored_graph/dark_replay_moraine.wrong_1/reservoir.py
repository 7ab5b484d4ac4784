import random

import torch


class Reservoir:
    """Vitter's algorithm R over patches and the answers given to them."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.patches, self.logits = [], []
        self.offered = 0
        self.dice = random.Random(8)

    def __len__(self):
        return len(self.patches)

    def add(self, patches, logits):
        for patch, answer in zip(patches, logits):
            self.offered += 1
            if len(self.patches) < self.capacity:
                self.patches.append(patch)
                self.logits.append(answer)
                continue
            slot = self.dice.randrange(self.offered)
            if slot < self.capacity:
                self.patches[slot], self.logits[slot] = patch, answer

    def draw(self, n):
        chosen = self.dice.sample(range(len(self.patches)), min(n, len(self.patches)))
        return (torch.stack([self.patches[i] for i in chosen]),
                torch.stack([self.logits[i] for i in chosen]))
