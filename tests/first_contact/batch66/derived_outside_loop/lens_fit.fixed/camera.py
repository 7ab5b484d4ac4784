import math

import torch
import torch.nn.functional as F
from torch import nn

SIGMA_PER_FWHM = 1.0 / (2.0 * math.sqrt(2.0 * math.log(2.0)))


class Camera(nn.Module):
    """Pixel grid, sky level and a circular Gaussian PSF whose width is part of the fit."""

    def __init__(self, npix, fwhm, half_field=2.0, ksize=9):
        super().__init__()
        self.log_fwhm = nn.Parameter(torch.tensor(float(fwhm)).log())
        self.sky = nn.Parameter(torch.zeros(()))
        axis = torch.linspace(-half_field, half_field, npix)
        gy, gx = torch.meshgrid(axis, axis, indexing="ij")
        self.register_buffer("gx", gx)
        self.register_buffer("gy", gy)
        self.pixel = float(axis[1] - axis[0])
        self.ksize = ksize

    def fwhm(self):
        return self.log_fwhm.exp().item()

    def psf(self):
        sigma = self.log_fwhm.exp() * SIGMA_PER_FWHM / self.pixel  # expect: place
        x = torch.arange(self.ksize, dtype=torch.float32) - self.ksize // 2
        k1 = torch.exp(-0.5 * (x / sigma) ** 2)  # expect: place
        k2 = torch.outer(k1, k1)
        return (k2 / k2.sum())[None, None]

    def expose(self, lens, source):
        bx, by = lens.to_source_plane(self.gx, self.gy)
        ideal = source.brightness(bx, by)[None, None]
        seen = F.conv2d(ideal, self.psf(), padding=self.ksize // 2)  # expect: place
        return seen[0, 0] + self.sky
