"""Lennard-Jones clusters shaken around a lattice, in reduced units."""
import itertools

import torch

CORNERS = torch.tensor(list(itertools.product((0.0, 1.12), repeat=3)))


def reference(positions):
    """Energies and forces by the closed form."""
    gaps = positions.unsqueeze(2) - positions.unsqueeze(1)
    square = gaps.pow(2).sum(-1) + torch.eye(positions.shape[1])
    inverse = square.pow(-3) * (1 - torch.eye(positions.shape[1]))
    energy = 2 * (inverse ** 2 - inverse).sum((1, 2))
    pull = 24 * (2 * inverse ** 2 - inverse) / square
    return energy, (pull.unsqueeze(-1) * gaps).sum(2)


def clusters(count, gen, shake=0.04):
    positions = CORNERS + shake * torch.randn(count, *CORNERS.shape, generator=gen)
    energy, forces = reference(positions)
    return positions, energy, forces
