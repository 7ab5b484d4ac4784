import torch
from torch import nn


class Generator(nn.Module):
    """Mel frames in, waveform out; one frame becomes `hop` samples."""

    def __init__(self, n_mels=20, width=32, hop=16):
        super().__init__()
        self.inp = nn.Conv1d(n_mels, width, 3, padding=1)
        self.up = nn.ConvTranspose1d(width, width // 2, hop * 2, stride=hop, padding=hop // 2)
        self.out = nn.Conv1d(width // 2, 1, 7, padding=3)

    def forward(self, mel):
        h = nn.functional.leaky_relu(self.inp(mel), 0.1)
        h = nn.functional.leaky_relu(self.up(h), 0.1)
        return torch.tanh(self.out(h))


class PeriodCritic(nn.Module):
    def __init__(self, period, width=16):
        super().__init__()
        self.period = period
        self.convs = nn.ModuleList(
            [nn.Conv2d(1, width, (5, 1), (3, 1), (2, 0)), nn.Conv2d(width, width, (5, 1), (3, 1), (2, 0))]
        )
        self.post = nn.Conv2d(width, 1, (3, 1), padding=(1, 0))

    def forward(self, wav):
        n = wav.shape[-1] - wav.shape[-1] % self.period
        h = wav[..., :n].unflatten(-1, (n // self.period, self.period))
        maps = []
        for conv in self.convs:
            h = nn.functional.leaky_relu(conv(h), 0.1)
            maps.append(h)
        return self.post(h).flatten(1), maps


class CriticBank(nn.Module):
    def __init__(self, periods=(2, 3)):
        super().__init__()
        self.members = nn.ModuleList(PeriodCritic(p) for p in periods)

    def forward(self, wav):
        return [m(wav) for m in self.members]
