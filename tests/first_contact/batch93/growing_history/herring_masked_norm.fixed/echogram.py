"""Echoes of schools in an echogram: depth, along-track position, strength, 38/120 kHz ratio."""
import torch

SPECIES = ["herring", "sprat", "blue whiting"]


def school(species):
    n = int(torch.randint(6, 20, ()))
    depth = torch.tensor([0.4, 0.0, 1.2])[species] + 0.4 * torch.randn(n)
    along = (1.0 if species != 2 else 2.5) * torch.randn(n)
    strength = torch.tensor([0.5, -0.3, 0.1])[species] + 0.5 * torch.randn(n)
    ratio = torch.tensor([0.2, 0.7, -0.4])[species] + 0.5 * torch.randn(n)
    return torch.stack([depth, along, strength, ratio], -1)


def survey(n):
    labels = torch.randint(0, len(SPECIES), (n,)).tolist()
    return [(school(k), k) for k in labels]


def collate(schools):
    longest = max(len(points) for points, _ in schools)
    x = torch.zeros(len(schools), longest, 4)
    mask = torch.zeros(len(schools), longest)
    for i, (points, _) in enumerate(schools):
        x[i, :len(points)] = points
        mask[i, :len(points)] = 1
    return x, mask, torch.tensor([k for _, k in schools])
