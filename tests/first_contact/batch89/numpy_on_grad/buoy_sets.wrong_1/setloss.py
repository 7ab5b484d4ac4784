"""Set loss: every true buoy is given to one slot, as cheaply as that can be done."""
from functools import lru_cache
from itertools import permutations

import numpy as np
import torch
import torch.nn.functional as F


@lru_cache
def assignments(slots, truths):
    return np.array(list(permutations(range(slots), truths)))


def cheapest(cost):
    """Four slots at most: trying them all is quicker than anything clever."""
    table = cost.numpy()
    ways = assignments(*table.shape)
    totals = table[ways, np.arange(table.shape[1])].sum(axis=1)
    return torch.as_tensor(ways[totals.argmin()])


class SetLoss:
    def __init__(self, place=5.0, presence=1.0):
        self.place, self.presence = place, presence

    def cost(self, places, logits, truth):
        apart = torch.cdist(places, truth, p=1)
        return self.place * apart - self.presence * torch.sigmoid(logits)[:, None]

    def __call__(self, predicted, sets):
        total, matched = 0.0, []
        for slots, truth in zip(predicted, sets):
            places, logits = slots[:, :2], slots[:, 2]
            chosen = cheapest(self.cost(places, logits, truth))
            there = torch.zeros_like(logits)
            there[chosen] = 1.0
            total = total + self.place * F.l1_loss(places[chosen], truth)
            total = total + self.presence * F.binary_cross_entropy_with_logits(logits, there)
            matched.append(chosen)
        return total / len(sets), matched
