"""Regions with a main quantity (yield) and three auxiliary ones, of which only some help."""
import torch

CHANNELS = 10
AUXILIARY = ("leaf area", "chlorophyll", "road distance")


def region(seed, plots=60):
    gen = torch.Generator().manual_seed(seed)
    shared = torch.Generator().manual_seed(77)
    mixing = torch.randn(CHANNELS, 3, generator=shared)
    x = torch.randn(plots, CHANNELS, generator=gen)
    latent = torch.tanh(x @ mixing / 3)
    noise = 0.1 * torch.randn(plots, 4, generator=gen)
    yield_ = latent[:, :1] * latent[:, 1:2] + latent[:, 2:]
    lai, chl = latent[:, :1], latent[:, 1:2] + 0.3 * latent[:, 2:]
    road = torch.randn(plots, 1, generator=gen)
    return x, torch.cat([yield_, lai, chl, road], 1) + noise
