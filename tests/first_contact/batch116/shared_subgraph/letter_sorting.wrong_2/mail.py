"""Piles of scanned envelopes, made up: a 12x12 scan, the script it is written in, a zone."""

from dataclasses import dataclass

import torch

SCRIPTS = 3
ZONES = 5


@dataclass(eq=False)
class Pile:
    scans: torch.Tensor
    labels: dict[str, torch.Tensor]


def piles(count: int, size: int, seed: int) -> list[Pile]:
    gen = torch.Generator().manual_seed(seed)
    strokes = torch.randn(SCRIPTS, 144, generator=gen)
    digits = torch.randn(ZONES, 144, generator=gen)
    made = []
    for _ in range(count):
        script = torch.randint(SCRIPTS, (size,), generator=gen)
        zone = torch.randint(ZONES, (size,), generator=gen)
        ink = strokes[script] + digits[zone] + 0.5 * torch.randn(size, 144, generator=gen)
        weight = 20.0 + 4.0 * script + torch.randn(size, generator=gen)
        labels = {"script": script, "zone": zone, "grams": weight / 20.0}
        made.append(Pile(ink.view(size, 1, 12, 12), labels))
    return made
