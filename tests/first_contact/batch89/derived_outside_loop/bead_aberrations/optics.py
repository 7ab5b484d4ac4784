"""Pupil functions: the first Zernike polynomials and the spread of a point that they make."""
import torch


def disc(size):
    line = torch.linspace(-1.6, 1.6, size)
    v, u = torch.meshgrid(line, line, indexing="ij")
    return u, v, ((u**2 + v**2) <= 1).float()


def zernikes(size):
    """Oblique and straight astigmatism, defocus, both comas, spherical; without normalisation."""
    u, v, inside = disc(size)
    r2 = u**2 + v**2
    modes = [2 * u * v, u**2 - v**2, 2 * r2 - 1, (3 * r2 - 2) * v, (3 * r2 - 2) * u,
             6 * r2**2 - 6 * r2 + 1]
    return torch.stack(modes) * inside, inside


def spread(phase, inside):
    field = torch.fft.fft2(inside * torch.exp(1j * phase))
    intensity = field.abs().square()
    return intensity / intensity.sum()
