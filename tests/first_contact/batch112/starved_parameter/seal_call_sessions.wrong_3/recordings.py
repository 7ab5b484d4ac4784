"""Invented hydrophone features: one cluster per seal colony, heard for the first time by session."""
import torch

BANDS = 20
SESSIONS = [[0, 1, 2], [3, 4], [5, 6, 7]]


def hear(colonies, per_colony, seed):
    g = torch.Generator().manual_seed(seed)
    shape = torch.Generator().manual_seed(99)
    formants = torch.randn(8, BANDS, generator=shape)
    y = torch.tensor(colonies).repeat_interleave(per_colony)
    x = formants[y] + 1.3 * torch.randn(len(y), BANDS, generator=g)
    order = torch.randperm(len(y), generator=g)
    return x[order], y[order]
