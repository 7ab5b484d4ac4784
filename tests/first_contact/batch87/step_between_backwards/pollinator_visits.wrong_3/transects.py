from dataclasses import dataclass

import torch

TASTE = torch.tensor([[1.5, 0.0, -1.0, 0.0, 0.5, 0.0],
                      [0.0, 2.0, 0.0, 0.0, 0.0, -0.5],
                      [0.5, 0.0, 0.0, 1.0, 0.0, 0.0],
                      [0.0, -1.0, 0.0, 0.0, 1.0, 0.0],
                      [0.0, 0.0, 1.0, -0.5, 0.0, 0.0]])


@dataclass
class Walk:
    plant_traits: torch.Tensor
    bee_traits: torch.Tensor
    visits: torch.Tensor


def walk_transects(count, plants=8, bees=7):
    walks = []
    for _ in range(count):
        p, b = torch.randn(plants, 5), torch.randn(bees, 6)
        rate = torch.exp(0.6 * p @ TASTE @ b.t()).clamp(max=40.0)
        walks.append(Walk(p, b, torch.poisson(rate) + 0.1))
    return walks
