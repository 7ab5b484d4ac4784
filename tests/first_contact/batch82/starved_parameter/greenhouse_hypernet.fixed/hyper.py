"""A network whose outputs are the weights of another one."""
import torch
from torch import nn


class HyperNetwork(nn.Module):
    def __init__(self, traits, shapes, width=16):
        super().__init__()
        self.shapes = list(shapes)
        self.sizes = [shape.numel() for shape in self.shapes]
        self.net = nn.Sequential(nn.Linear(traits, width), nn.ReLU(), nn.Linear(width, sum(self.sizes)))

    def forward(self, traits):
        flat = self.net(traits)
        return [part.view(shape) for part, shape in zip(flat.split(self.sizes), self.shapes)]


def load_into(layer, weights):
    """Put the generated weights where the layer keeps its own."""
    for own, made in zip(layer.parameters(), weights):
        own.data.copy_(made)
