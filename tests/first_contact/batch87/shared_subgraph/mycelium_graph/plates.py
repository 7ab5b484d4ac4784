from collections import namedtuple

import torch

Plate = namedtuple("Plate", "tips edges cords stored flow")


def random_plate(n_tips, n_cords):
    tips = torch.randn(n_tips, 4)
    edges = torch.randint(0, n_tips, (2, n_cords))
    cords = torch.rand(n_cords, 2)
    level = tips[:, 0] - 0.5 * tips[:, 1]
    drop = (level[edges[0]] - level[edges[1]]) * cords[:, 0]
    stored = level + 0.2 * torch.zeros(n_tips).index_add(0, edges[1], drop)
    return Plate(tips, edges, cords, stored, drop)
