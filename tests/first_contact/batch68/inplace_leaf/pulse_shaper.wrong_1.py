"""Compress a femtosecond pulse with a spatial light modulator (4f shaper)."""
import math

import torch
import torch.nn as nn


class SLMShaper(nn.Module):
    def __init__(self, n_pixels=256, first=32, last=224):
        super().__init__()
        omega = torch.linspace(-1, 1, n_pixels)
        self.first, self.last = first, last            # pixels that the beam really hits
        self.register_buffer("spectrum", torch.exp(-(omega / 0.35) ** 2))
        # dispersion of the stretcher that we want to undo
        self.register_buffer("chirp", 40 * omega ** 2 + 25 * omega ** 3)
        self.phase = nn.Parameter(0.1 * torch.randn(n_pixels))

    def forward(self):
        field = torch.polar(self.spectrum, self.chirp + self.phase)
        return torch.fft.fftshift(torch.fft.ifft(field))


def second_harmonic(pulse):
    """Two-photon signal: largest for the shortest pulse."""
    return (pulse.abs() ** 4).sum() * 1e3


def roughness(phase):
    return (phase[2:] - 2 * phase[1:-1] + phase[:-2]).pow(2).mean()


def fwhm(pulse):
    intensity = pulse.abs() ** 2
    return int((intensity > intensity.max() / 2).sum())


class Campaign:
    def __init__(self, shaper, steps=40):
        self.shaper, self.steps = shaper, steps
        self.opt = torch.optim.Adam(shaper.parameters(), lr=0.1)
        self.best = -math.inf

    def mask_pixels(self):
        s = self.shaper
        phase = s.phase.detach().clone()
        phase[:s.first] = 0.0
        phase[s.last:] = 0.0
        s.phase = nn.Parameter(phase)

    def iterate(self):
        self.opt.zero_grad()
        pulse = self.shaper()
        signal = second_harmonic(pulse)
        loss = -signal + 0.01 * roughness(self.shaper.phase)
        loss.backward()
        self.opt.step()
        self.mask_pixels()
        self.best = max(self.best, signal.item())
        return signal.item()

    def run(self):
        for k in range(self.steps):
            signal = self.iterate()
            if k % 10 == 0:
                with torch.no_grad():
                    print(f"{k:3d}  SHG {signal:.4f}  FWHM {fwhm(self.shaper())} bins")


if __name__ == "__main__":
    torch.manual_seed(17)
    campaign = Campaign(SLMShaper())
    campaign.run()
    print("best signal", round(campaign.best, 4))
