"""The entropy model of the codec: one logistic for each channel, and where its tails end."""
import math

import torch
from torch import nn


class ChannelPrior(nn.Module):
    """`edges` are lower tail, median and upper tail of a channel; the range coder needs them."""

    def __init__(self, channels, tail_mass=1e-3):
        super().__init__()
        self.steep = nn.Parameter(torch.ones(channels, 1))
        self.centre = nn.Parameter(torch.zeros(channels, 1))
        self.edges = nn.Parameter(torch.tensor([[-8.0, 0.0, 8.0]]).repeat(channels, 1))
        far = math.log(2 / tail_mass - 1)
        self.register_buffer("wanted", torch.tensor([[-far, 0.0, far]]))

    def likelihood(self, y):
        upper = torch.sigmoid(self.steep * (y + 0.5 - self.centre))
        lower = torch.sigmoid(self.steep * (y - 0.5 - self.centre))
        return (upper - lower).clamp_min(1e-9)

    def edge_loss(self):
        """Moves the edges only: the logistic itself is learnt from the bits."""
        logits = self.steep.detach() * (self.edges - self.centre.detach())  # expect: place
        return (logits - self.wanted).abs().sum()
