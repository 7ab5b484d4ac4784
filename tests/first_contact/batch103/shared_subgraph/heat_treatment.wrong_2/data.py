"""Synthetic heats of a low-alloy steel: composition, furnace schedule, and what the lab measured."""
import torch

ELEMENTS = ["C", "Mn", "Si", "Cr", "Mo", "Ni"]
SCHEDULE = ["austenitise", "quench", "temper", "hours"]


def heats(count, seed):
    g = torch.Generator().manual_seed(seed)
    mix = torch.rand(count, len(ELEMENTS), generator=g)
    plan = torch.rand(count, len(SCHEDULE), generator=g)
    martensite = torch.sigmoid(4 * (plan[:, 1] + 0.6 * mix[:, 3] + 0.4 * mix[:, 4] - 0.9))
    softening = plan[:, 2] * (0.5 + 0.5 * plan[:, 3])
    hardness = martensite * (0.4 + mix[:, 0]) - 0.5 * softening
    toughness = 0.8 * softening + 0.3 * mix[:, 5] - 0.5 * mix[:, 0] * martensite
    cracked = torch.bernoulli(torch.sigmoid(6 * (hardness - toughness - 0.4)), generator=g)
    noise = 0.03 * torch.randn(2, count, generator=g)
    labels = {"hardness": hardness + noise[0], "toughness": toughness + noise[1], "cracked": cracked}
    return torch.cat([mix, plan], 1), labels


def batches(x, labels, size):
    for rows in torch.randperm(len(x)).split(size):
        yield x[rows], {name: column[rows] for name, column in labels.items()}
