import torch

PARTIALS = 10


def strokes(n, seed):
    """Detuning and decay of each partial; a crack splits some and damps them all."""
    g = torch.Generator().manual_seed(seed)
    cracked = (torch.rand(n, generator=g) < 0.35).float()
    detune = torch.randn(n, PARTIALS, generator=g) * (0.6 + 0.5 * cracked[:, None])
    decay = torch.randn(n, PARTIALS, generator=g) - 0.5 * cracked[:, None]
    return torch.cat([detune.abs(), decay], 1), cracked
