import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SincConv(nn.Module):
    """Band-pass filters of which only the two cut-off frequencies are learnt."""

    def __init__(self, out_channels, kernel_size, sample_rate=800, min_low_hz=5, min_band_hz=5):
        super().__init__()
        self.kernel_size = kernel_size
        self.sample_rate = sample_rate
        self.min_low_hz, self.min_band_hz = min_low_hz, min_band_hz
        edges = torch.linspace(20, sample_rate / 2 - 40, out_channels + 1)
        self.low_hz_ = nn.Parameter(edges[:-1, None].clone())
        self.band_hz_ = nn.Parameter((edges[1:] - edges[:-1])[:, None].clone())
        n = torch.arange(-(kernel_size // 2), kernel_size // 2 + 1).float()
        self.register_buffer("n_", 2 * math.pi * n[None] / sample_rate)
        self.register_buffer("window_", torch.hamming_window(kernel_size, periodic=False)[None])
        self.filters = nn.Parameter(self.get_filters().detach())

    def get_filters(self):
        low = self.min_low_hz + self.low_hz_.abs()
        high = (low + self.min_band_hz + self.band_hz_.abs()).clamp(max=self.sample_rate / 2)
        upper = 2 * high * torch.sinc(high * self.n_ / math.pi)
        lower = 2 * low * torch.sinc(low * self.n_ / math.pi)
        band_pass = (upper - lower) * self.window_
        return (band_pass / (2 * (high - low))).unsqueeze(1)

    def forward(self, waveforms):
        return F.conv1d(waveforms, self.filters, stride=4)


class WhistleNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.sinc = SincConv(10, 31)
        self.norm = nn.BatchNorm1d(10)
        self.conv = nn.Conv1d(10, 12, 5)
        self.head = nn.Linear(12, classes)

    def forward(self, wav):
        x = F.leaky_relu(self.norm(F.max_pool1d(self.sinc(wav).abs(), 3)))
        x = F.leaky_relu(self.conv(x)).mean(dim=2)
        return self.head(x)


def whistles(n, generator):
    kind = torch.randint(0, 3, (n,), generator=generator)
    t = torch.arange(400) / 800
    pitch = 60 + 90 * kind.float() + 8 * torch.randn(n, generator=generator)
    wave = torch.sin(2 * math.pi * pitch[:, None] * t)
    return (wave + 0.4 * torch.randn(n, 400, generator=generator)).unsqueeze(1), kind


def train_epoch(model, batches, optimizer):
    model.train()
    for wav, kind in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(wav), kind)
        loss.backward()
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(33)
    generator = torch.Generator().manual_seed(33)
    model = WhistleNet()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3, alpha=0.95, eps=1e-8)
    for epoch in range(3):
        batches = [whistles(12, generator) for _ in range(4)]
        print("epoch", epoch, "loss %.4f" % train_epoch(model, batches, optimizer))
