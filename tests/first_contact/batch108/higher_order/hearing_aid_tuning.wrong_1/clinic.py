"""Listeners with made-up audiograms, and the gain they would like in three situations."""
import torch

SITUATIONS = ("quiet", "street", "restaurant")
BANDS = 8


def listener(gen):
    loss = torch.rand(BANDS, generator=gen).cumsum(0) / BANDS * 2
    taste = 0.3 * torch.randn(BANDS, generator=gen)
    def trials(count, situation):
        level = torch.rand(count, BANDS, generator=gen)
        noise = 0.2 + 0.3 * SITUATIONS.index(situation)
        wanted = loss * (1 - level) + taste - noise * level ** 2
        x = torch.cat([level, loss.expand(count, -1), torch.full((count, 1), noise)], 1)
        return x, wanted + 0.02 * torch.randn(count, BANDS, generator=gen)
    return trials
