"""Resistance of wood against its moisture: every species bends the curve in its own way."""
from dataclasses import dataclass

import torch


@dataclass
class Species:
    slope: float
    bend: float
    offset: float

    def readings(self, n, gen):
        moisture = torch.rand(n, 1, generator=gen) * 2 - 1
        warmth = torch.randn(n, 1, generator=gen)
        ohm = self.offset + self.slope * moisture + self.bend * moisture ** 2 + 0.2 * warmth
        ohm = torch.tanh(ohm) + 0.02 * torch.randn(n, 1, generator=gen)
        return torch.cat([ohm, warmth], 1), moisture


@dataclass
class Board:
    """A board of one species: a few oven-dried samples, then several sessions in the yard."""
    support: tuple
    sessions: list


def saw(gen, shots=8, sessions=3, per_session=12):
    u = torch.rand(3, generator=gen)
    species = Species(slope=-0.6 - 0.8 * float(u[0]), bend=0.5 * float(u[1]), offset=float(u[2]) - 0.5)
    return Board(species.readings(shots, gen), [species.readings(per_session, gen) for _ in range(sessions)])
