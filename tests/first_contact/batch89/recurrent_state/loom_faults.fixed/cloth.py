"""A made-up weaving shed: line-camera readings of several looms, cut into lengths of cloth."""
import torch


class Shed:
    """Every loom has a thread pattern of its own; a fault shows where a reading leaves it."""

    def __init__(self, looms, pixels, seed=3):
        self.source = torch.Generator().manual_seed(seed)
        self.looms, self.pixels = looms, pixels
        self.weave = self.draw(looms, pixels)

    def draw(self, *shape):
        return torch.randn(*shape, generator=self.source)

    def lengths(self, count, lines):
        for number in range(count):
            changed = torch.rand(self.looms, generator=self.source) < 0.15
            self.weave = torch.where(changed[:, None], self.draw(self.looms, self.pixels), self.weave)
            seen = self.weave[:, None] + 0.2 * self.draw(self.looms, lines, self.pixels)
            fault = torch.rand(self.looms, lines, generator=self.source) < 0.2
            seen[..., : self.pixels // 2] += 1.5 * fault[..., None].float()
            yield seen, fault.float(), changed
