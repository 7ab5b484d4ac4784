import torch
from torch.utils.data import Dataset


class NightDataset(Dataset):
    """Scored epochs picked from many sleepers; every stage has its own rhythm."""

    def __init__(self, n, seed, length=20, channels=4):
        g = torch.Generator().manual_seed(seed)
        self.stage = torch.randint(0, 5, (n,), generator=g)
        t = torch.arange(length) / length
        phase = torch.rand(n, channels, 1, generator=g) * 6.28
        rhythm = torch.sin(6.28 * (self.stage[:, None, None] + 1) * t + phase)
        self.signal = (rhythm + 0.3 * torch.randn(n, channels, length, generator=g)).transpose(1, 2)

    def __len__(self):
        return len(self.stage)

    def __getitem__(self, i):
        return self.signal[i], self.stage[i]
