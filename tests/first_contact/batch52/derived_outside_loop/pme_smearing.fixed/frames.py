"""Toy ionic frames: positions in a periodic box, partial charges, reference energies."""

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Frame:
    positions: torch.Tensor
    charges: torch.Tensor
    cell: torch.Tensor
    energy: torch.Tensor


def kvectors(cell, cutoff=2):
    """Half of the reciprocal lattice, without the origin."""
    n = torch.arange(-cutoff, cutoff + 1)
    grid = torch.cartesian_prod(n, n, n)
    keep = [tuple(k) > (0, 0, 0) for k in grid.tolist()]
    return 2 * math.pi * grid[torch.tensor(keep)].float() @ torch.linalg.inv(cell).T


def reciprocal_energy(positions, charges, k, weights):
    phase = positions @ k.T
    real = (charges[:, None] * phase.cos()).sum(0)
    imag = (charges[:, None] * phase.sin()).sum(0)
    return (weights * (real**2 + imag**2)).sum()


def make_frames(count, atoms, generator):
    cell = 6.0 * torch.eye(3)
    k = kvectors(cell)
    k2 = (k**2).sum(-1)
    truth = torch.exp(-0.5 * 1.3**2 * k2) / k2
    frames = []
    for _ in range(count):
        positions = 6.0 * torch.rand(atoms, 3, generator=generator)
        charges = torch.ones(atoms)
        charges[1::2] = -1.0
        energy = reciprocal_energy(positions, charges, k, truth)
        frames.append(Frame(positions, charges, cell, energy))
    return frames
