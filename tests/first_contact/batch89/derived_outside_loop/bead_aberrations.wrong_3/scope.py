"""A microscope with an unknown aberration, as it blurs what lies under it."""
import torch
from torch import nn

from optics import spread, zernikes


class Microscope(nn.Module):
    def __init__(self, size=24):
        super().__init__()
        modes, inside = zernikes(size)
        self.register_buffer("modes", modes)
        self.register_buffer("inside", inside)
        self.waves = nn.Parameter(0.05 * torch.ones(len(modes)))
        self.gain = nn.Parameter(torch.ones(()))
        self.floor = nn.Parameter(torch.zeros(()))
        self.psf = self.point_spread()

    def phase(self):
        return torch.einsum("k,kij->ij", self.waves, self.modes)

    def point_spread(self):
        return spread(self.phase(), self.inside)

    def forward(self, scene):
        otf = torch.fft.fft2(self.psf)
        blurred = torch.fft.ifft2(torch.fft.fft2(scene) * otf).real
        return self.gain * blurred + self.floor

    def report(self):
        return " ".join(f"{w:+.2f}" for w in self.waves.tolist())
