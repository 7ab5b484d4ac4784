"""Frames of made-up speech: the phoneme moves some bands, the speaker's tract moves others."""
import torch
from torch.utils.data import DataLoader, TensorDataset

BANDS, PHONEMES, SPEAKERS = 24, 12, 8


def corpus(frames, seed, voices=None):
    gen = torch.Generator().manual_seed(seed)
    shapes = torch.Generator().manual_seed(99)
    vowels = torch.randn(PHONEMES, BANDS, generator=shapes)
    tracts = 0.8 * torch.randn(SPEAKERS, BANDS, generator=shapes)
    said = torch.randint(PHONEMES, (frames,), generator=gen)
    who = torch.randint(SPEAKERS, (frames,), generator=gen)
    noise = 0.4 * torch.randn(frames, BANDS, generator=gen)
    return TensorDataset(vowels[said] + tracts[who] + noise, said, who)


def loaders(batch=50):
    return (DataLoader(corpus(800, 1), batch_size=batch, shuffle=True),
            DataLoader(corpus(400, 2), batch_size=200))
