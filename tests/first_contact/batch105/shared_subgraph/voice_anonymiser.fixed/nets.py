import torch.nn as nn

from data import BANDS, PHONEMES, SPEAKERS


def encoder(width=20):
    return nn.Sequential(nn.Linear(BANDS, 48), nn.ELU(), nn.Linear(48, width), nn.Tanh())


def recogniser(width=20):
    return nn.Linear(width, PHONEMES)


def eavesdropper(width=20):
    return nn.Sequential(nn.Linear(width, 32), nn.ELU(), nn.Linear(32, SPEAKERS))
