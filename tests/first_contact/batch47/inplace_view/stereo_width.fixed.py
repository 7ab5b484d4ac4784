import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BandFilter(nn.Module):
    """Short FIR filters on both channels of a stereo clip."""

    def __init__(self, taps=15):
        super().__init__()
        self.fir = nn.Conv1d(2, 2, taps, padding=taps // 2, groups=2, bias=False)

    def forward(self, clip):
        return clip + 0.1 * self.fir(clip)


class Widener(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = BandFilter()
        self.gain_db = nn.Parameter(torch.zeros(2))
        self.width = nn.Parameter(torch.tensor(0.3))

    def forward(self, clip):
        wet = self.filter(clip)
        left, right = wet.unbind(dim=1)
        left = left * 10 ** (self.gain_db[0] / 20)
        right = right * 10 ** (self.gain_db[1] / 20)
        mid = 0.5 * (left + right)
        side = 0.5 * (left - right) * torch.exp(self.width)
        return torch.stack([mid + side, mid - side], dim=1)


def clips(n, length=256, rate=8000.0):
    t = torch.arange(length) / rate
    pitch = 200 + 600 * torch.rand(n, 2, 1)
    phase = 2 * math.pi * torch.rand(n, 2, 1)
    return torch.sin(2 * math.pi * pitch * t + phase)


def reference_master(clip):
    left, right = clip[:, 0] * 1.3, clip[:, 1] * 0.8
    mid, side = 0.5 * (left + right), 0.9 * (left - right)
    return torch.stack([mid + side, mid - side], dim=1)


def log_spectrum(x):
    mag = torch.fft.rfft(x * torch.hann_window(x.shape[-1])).abs()
    return torch.log1p(mag)


def run(batches=30):
    torch.manual_seed(21)
    device = Widener()
    opt = torch.optim.Adam(device.parameters(), lr=0.02)
    for i in range(batches):
        dry = clips(16)
        with torch.no_grad():
            goal = reference_master(dry)
        wet = device(dry)
        distance = F.mse_loss(wet, goal) + 0.1 * F.l1_loss(log_spectrum(wet), log_spectrum(goal))
        opt.zero_grad()
        distance.backward()
        opt.step()
        if i % 10 == 0 or i == batches - 1:
            db = [round(v, 2) for v in device.gain_db.tolist()]
            print(f"batch {i:3d}: distance {distance.item():.4f}, gain {db} dB, "
                  f"width {device.width.exp().item():.3f}")


run()
