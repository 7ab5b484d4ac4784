"""Reciprocal-space part of a long-range potential with a learnable Gaussian smearing."""

import torch
from torch import nn

from frames import kvectors, reciprocal_energy


class LongRangePotential(nn.Module):
    def __init__(self, smearing=0.7):
        super().__init__()
        self.log_smearing = nn.Parameter(torch.tensor(smearing).log())
        self.charge_scale = nn.Parameter(torch.tensor(0.8))
        self._cell = None
        self._k = None
        self._influence = None

    def _update(self, cell):
        """k-vectors only change with the cell, and in NVT runs the cell never changes."""
        if self._cell is not None and torch.equal(cell, self._cell):
            return
        self._cell = cell.clone()
        self._k = kvectors(cell)
        self._influence = self._green(self._k).detach()

    def _green(self, k):
        k2 = (k**2).sum(-1)
        smearing = self.log_smearing.exp()
        return torch.exp(-0.5 * smearing**2 * k2) / k2

    def forward(self, frame):
        self._update(frame.cell)
        charges = self.charge_scale * frame.charges
        return reciprocal_energy(frame.positions, charges, self._k, self._influence)
