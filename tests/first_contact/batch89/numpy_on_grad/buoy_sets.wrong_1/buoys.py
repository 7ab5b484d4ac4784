"""A made-up harbour: up to four buoys, heard as echoes by a line of hydrophones."""
import torch

HYDROPHONES = 16


def soundings(count, most=4):
    ears = torch.linspace(-1, 1, HYDROPHONES)
    echoes = torch.zeros(count, 2, HYDROPHONES)
    sets = []
    for row in echoes:
        number = int(torch.randint(2, most + 1, ()))
        places = torch.stack([torch.rand(number) * 2 - 1, torch.rand(number)], 1)
        distance = ((ears[None] - places[:, :1]) ** 2 + places[:, 1:] ** 2 + 0.02).sqrt()
        row[0] = (1 / distance).sum(0)
        row[1] = torch.cos(8 * distance).sum(0)
        sets.append(places)
    return echoes.flatten(1) + 0.02 * torch.randn(count, 2 * HYDROPHONES), sets
