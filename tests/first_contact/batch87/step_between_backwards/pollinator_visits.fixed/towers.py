import math

import torch
from torch import nn


class Tower(nn.Module):
    """From the traits of a species to a place in a common space."""

    def __init__(self, n_in, width, n_out):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.second = nn.Linear(width, n_out)

    def forward(self, traits):
        return self.second(torch.tanh(self.first(traits)))


def affinity_table(flowers, wings):
    """One row a plant, one column a bee."""
    return flowers @ wings.t() / math.sqrt(flowers.shape[1])
