"""A trunk over the spectrum and a linear head that can be widened."""
import torch
from torch import nn


class StrainNet(nn.Module):
    def __init__(self, bins, strains, width=16):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv1d(1, 8, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(8, 8, 5, stride=2, padding=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(8 * bins // 4, width), nn.LayerNorm(width), nn.Tanh())
        self.head = nn.Linear(width, strains)

    def forward(self, spectra):
        return self.head(self.trunk(spectra[:, None]))

    def widen(self, more):
        """Room for `more` further strains; what is known of the old ones stays."""
        old = self.head
        new = nn.Linear(old.in_features, old.out_features + more)
        with torch.no_grad():
            new.weight[: old.out_features] = old.weight
            new.bias[: old.out_features] = old.bias
        self.head = new
