import torch.nn as nn


class Converter(nn.Module):
    """Mel frames of one accent to mel frames of the other."""

    def __init__(self, n_mel=10, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(n_mel, width, 3, padding=1), nn.InstanceNorm1d(width), nn.LeakyReLU(0.2),
            nn.Conv1d(width, n_mel, 3, padding=1))

    def forward(self, mel):
        return mel + self.body(mel)


class PatchCritic(nn.Module):
    def __init__(self, n_mel=10, width=12):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(n_mel, width, 4, stride=2), nn.LeakyReLU(0.2), nn.Conv1d(width, 1, 3))

    def forward(self, mel):
        return self.body(mel)


def set_requires_grad(nets, requires_grad=False):
    for net in nets if isinstance(nets, (list, tuple)) else [nets]:
        for param in net.parameters():
            param.requires_grad = requires_grad  # expect: place
