"""A glasshouse on a spring day: too warm or too damp, and a vent that answers to both."""
import torch


class Glasshouse:
    size = 3

    def __init__(self, plots, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.plots = plots

    def dawn(self):
        self.state = torch.randn(self.plots, self.size, generator=self.g) * 0.5
        return self.state

    def vent(self, opening):
        heat, damp, sun = self.state.unbind(1)
        drift = torch.randn(self.plots, generator=self.g) * 0.1
        heat = 0.9 * heat + 0.3 * sun - 0.4 * opening
        damp = 0.8 * damp - 0.2 * opening + 0.1
        sun = 0.95 * sun + drift
        self.state = torch.stack([heat, damp, sun], 1)
        return self.state, -(heat.pow(2) + 0.5 * damp.pow(2))
