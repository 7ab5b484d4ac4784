"""Generator, encoder and the judge of (patch, code) pairs."""
import torch
from torch import nn

LATENT, PIXELS = 6, 64


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(LATENT, 48, PIXELS)

    def forward(self, z):
        return torch.tanh(self.body(z))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(PIXELS, 48, LATENT)

    def forward(self, x):
        return self.body(x)


class PairJudge(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_patch = mlp(PIXELS, 48, 24)
        self.of_code = mlp(LATENT, 24)
        self.verdict = mlp(48, 32, 1)

    def forward(self, x, z):
        joint = torch.cat([self.of_patch(x), self.of_code(z)], 1)
        return self.verdict(joint).squeeze(1)
