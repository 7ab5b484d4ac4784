"""Fit emission lines (position, width, strength) to a measured spectrum with L-BFGS."""

import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

PROFILES = {}


def profile(name):
    def register(function):
        PROFILES[name] = function
        return function

    return register


@profile("gauss")
def gauss(delta, width):
    return torch.exp(-0.5 * (delta / width) ** 2)


@profile("lorentz")
def lorentz(delta, width):
    return 1.0 / (1.0 + (delta / width) ** 2)


@dataclass
class FitConfig:
    profile: str = "lorentz"
    first_guess: list = field(default_factory=lambda: [0.22, 0.45, 0.81])
    rounds: int = 4
    max_iter: int = 6
    width_prior: float = 1e-3


class LineModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.shape = PROFILES[cfg.profile]
        guess = torch.tensor(cfg.first_guess)
        self.position = nn.Parameter(guess)
        self.raw_width = nn.Parameter(torch.full_like(guess, math.log(math.expm1(0.05))))
        self.strength = nn.Parameter(torch.ones_like(guess))
        self.baseline = nn.Parameter(torch.zeros(()))

    def width(self):
        return F.softplus(self.raw_width)

    def forward(self, wavelength):
        delta = wavelength[:, None] - self.position
        lines = self.strength * self.shape(delta, self.width())
        return self.baseline + lines.sum(dim=1)


class Fitter:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=cfg.max_iter)
        self.history = []

    def fit(self, wavelength, counts):
        for number in range(self.cfg.rounds):
            value = self.fit_round(wavelength, counts)
            self.history.append(value)
            print(f"round {number}: objective {value:.6f}")

    def fit_round(self, wavelength, counts):
        spectrum = self.model(wavelength)
        misfit = F.mse_loss(spectrum, counts).detach()

        def closure():
            self.optimizer.zero_grad()
            prior = self.model.width().log().pow(2).sum()
            loss = misfit + self.cfg.width_prior * prior
            loss.backward()
            return loss

        return self.optimizer.step(closure).item()


def measure(points=200):
    wavelength = torch.linspace(0, 1, points)
    truth = torch.zeros(points)
    for center, width, strength in [(0.2, 0.03, 1.0), (0.5, 0.06, 0.6), (0.78, 0.04, 1.4)]:
        truth += strength * lorentz(wavelength - center, width)
    return wavelength, truth + 0.1 + 0.01 * torch.randn(points)


if __name__ == "__main__":
    torch.manual_seed(3)
    config = FitConfig()
    wavelength, counts = measure()
    fitter = Fitter(LineModel(config), config)
    fitter.fit(wavelength, counts)
    print("positions:", [round(p, 3) for p in fitter.model.position.tolist()])
