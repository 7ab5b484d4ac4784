"""A made-up bleach plant: five stages' settings in, brightness of the pulp out."""
import torch

TAGS = ("kappa in", "ClO2 charge", "temperature", "end pH", "retention")


def shifts(n, spread=1.0):
    x = spread * torch.randn(n, len(TAGS))
    bright = 1.2 * torch.tanh(x[:, 1] - 0.5 * x[:, 0]) + 0.4 * x[:, 2] * x[:, 4] - 0.2 * x[:, 3] ** 2
    noise = 0.05 + 0.15 * torch.sigmoid(x[:, 0])
    return x, bright + noise * torch.randn(n)


def bootstrap(n, members):
    """How often each shift counts for each member, (members, n)."""
    picks = torch.randint(n, (members, n))
    return torch.zeros(members, n).scatter_add_(1, picks, torch.ones(members, n))
