"""Clean Raman spectra of pigments by diffusion: the noise in a spectrum is guessed and taken off."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from diffusion import NoiseSchedule
from model import SpectrumNet


@dataclass
class Settings:
    bins: int = 32
    channels: int = 8
    levels: int = 20
    batch: int = 16
    steps: int = 12
    lr: float = 3e-3


def spectra(count, bins):
    at = torch.linspace(-1, 1, bins)
    peaks = torch.rand(count, 3, 1) * 1.6 - 0.8
    return torch.exp(-((at - peaks) / 0.08) ** 2).sum(1).unsqueeze(1)


class Trainer:
    def __init__(self, settings):
        self.s = settings
        self.schedule = NoiseSchedule(settings.levels)
        self.net = SpectrumNet(settings.channels, settings.levels)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=settings.lr)

    def losses(self, clean):
        t = torch.randint(0, self.s.levels, (len(clean),))
        noise = torch.randn_like(clean)
        guess = self.net(self.schedule.noised(clean, noise, t), t)
        return F.mse_loss(guess, noise)

    def fit(self):
        for step in range(self.s.steps):
            loss = self.losses(spectra(self.s.batch, self.s.bins))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(5)
    Trainer(Settings()).fit()
