import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.SiLU())
    return nn.Sequential(*layers)


class Encoder(nn.Module):
    def __init__(self, obs_dim, hidden):
        super().__init__()
        self.net = mlp(obs_dim, hidden, hidden)

    def forward(self, obs):
        return torch.tanh(self.net(obs))


class Head(nn.Module):
    """Predicts something about a transition from the latent state and the action."""

    def __init__(self, hidden, act_dim, out):
        super().__init__()
        self.net = mlp(hidden + act_dim, hidden, out)

    def forward(self, latent, act):
        return self.net(torch.cat([latent, act], dim=-1))
