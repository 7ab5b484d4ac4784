import torch

BANDS = 24


def library(n):
    """Two pigments in a clear flux, at varying strength."""
    g = torch.Generator().manual_seed(0)
    nm = torch.linspace(0, 1, BANDS)
    cobalt = torch.exp(-((nm - 0.55) / 0.12) ** 2)
    copper = torch.exp(-((nm - 0.85) / 0.2) ** 2)
    strength = torch.rand(n, 2, generator=g)
    absorbed = strength[:, :1] * cobalt + 0.6 * strength[:, 1:] * copper
    return (0.9 - 0.7 * absorbed + 0.02 * torch.randn(n, BANDS, generator=g)).clamp(0, 1)
