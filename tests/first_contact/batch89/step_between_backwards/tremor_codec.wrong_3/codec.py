"""Compresses short windows of a seismometer into a few quantised channels."""
import torch
from torch import nn

from prior import ChannelPrior


class TremorCodec(nn.Module):
    def __init__(self, channels=4, width=8):
        super().__init__()
        self.analysis = nn.Sequential(
            nn.Conv1d(1, width, 5, stride=2, padding=2), nn.GELU(),
            nn.Conv1d(width, channels, 5, stride=2, padding=2),
        )
        self.synthesis = nn.Sequential(
            nn.ConvTranspose1d(channels, width, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose1d(width, 1, 4, stride=2, padding=1),
        )
        self.prior = ChannelPrior(channels)

    def main_parameters(self):
        return [p for name, p in self.named_parameters() if not name.endswith("edges")]

    def quantise(self, y):
        return y + torch.rand_like(y) - 0.5 if self.training else y.round()

    def forward(self, x):
        y = self.quantise(self.analysis(x))
        bits = -torch.log2(self.prior.likelihood(y)).sum((1, 2)) / x.shape[-1]
        return {
            "wave": self.synthesis(y),
            "bits": bits.mean(),
            "edges": self.prior.edge_loss(),
        }
