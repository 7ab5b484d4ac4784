"""Small synthetic patches of thin sections: grains with an orientation and a cleavage."""
import torch


def patches(count, side=8, generator=None):
    angle = torch.rand(count, 1, 1, generator=generator) * 3.1416
    pitch = 0.6 + 1.4 * torch.rand(count, 1, 1, generator=generator)
    y, x = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    along = x * torch.cos(angle) + y * torch.sin(angle)
    stripes = torch.sin(pitch * along)
    mica = torch.randn(count, side, side, generator=generator) * 0.1
    return (stripes + mica).clamp(-1, 1).flatten(1)


class Drawer:
    """Endless batches out of a fixed drawer of sections."""

    def __init__(self, count, batch, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.sections = patches(count, generator=self.generator)
        self.batch = batch

    def __iter__(self):
        order = torch.randperm(len(self.sections), generator=self.generator)
        yield from (self.sections[rows] for rows in order.split(self.batch))
