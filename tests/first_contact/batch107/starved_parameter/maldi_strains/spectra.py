"""Spectra with peaks at places that belong to the strain, heights that vary, and a baseline."""
import torch


class Collection:
    bins = 96

    def __init__(self, strains, seed, peaks=9):
        self.gen = torch.Generator().manual_seed(seed)
        common = 96 * torch.rand(4, generator=self.gen)
        own = 96 * torch.rand(strains, peaks - 4, generator=self.gen)
        self.places = torch.cat([common.expand(strains, 4), own], 1)
        self.heights = 0.5 + torch.rand(strains, peaks, generator=self.gen)

    def measure(self, strains, each):
        """`each` spectra of every one of `strains`, and their labels."""
        label = torch.tensor(strains).repeat_interleave(each)
        shift = 0.5 * torch.randn(len(label), 1, generator=self.gen)
        at = (self.places[label] + shift)[:, :, None]
        height = self.heights[label] * (0.35 * torch.randn(self.heights[label].shape, generator=self.gen)).exp()
        axis = torch.arange(self.bins, dtype=torch.float32)
        spectra = (height[:, :, None] * torch.exp(-0.5 * ((axis - at) / 0.9) ** 2)).sum(1)
        spectra += 0.6 * torch.exp(-axis / 30) + 0.1 * torch.randn(spectra.shape, generator=self.gen)
        return (spectra - spectra.mean(1, keepdim=True)) / spectra.std(1, keepdim=True), label
