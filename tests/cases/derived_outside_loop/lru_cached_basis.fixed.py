"""Learnable band-pass filters in front of a small classifier."""
import functools
import torch
import torch.nn as nn


class SincFilters(nn.Module):
    def __init__(self, n_filters=4, width=9):
        super().__init__()
        self.low = nn.Parameter(torch.linspace(0.05, 0.2, n_filters))
        self.band = nn.Parameter(torch.full((n_filters,), 0.1))
        self.width = width


    def filters(self, width):
        t = torch.arange(width).float() - (width - 1) / 2
        high = self.low.abs() + self.band.abs()
        low_pass = 2 * self.low.abs()[:, None] * torch.sinc(2 * self.low.abs()[:, None] * t)
        high_pass = 2 * high[:, None] * torch.sinc(2 * high[:, None] * t)
        return (high_pass - low_pass).unsqueeze(1)

    def forward(self, wave):
        bank = self.filters(self.width)
        return torch.nn.functional.conv1d(wave, bank, padding=self.width // 2)


torch.manual_seed(1)
net = nn.Sequential(SincFilters(), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(3):
    waves = torch.randn(6, 1, 32)
    target = (waves[:, 0].diff().abs().mean(1) > 1.1).long()
    loss = nn.functional.cross_entropy(net(waves), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
