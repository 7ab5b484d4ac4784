# expect: pattern = undetached-target
# expect: also = derived-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = share
"""Moult phases of ducks: a mixture of growth curves, fitted by generalised EM.

Every bird belongs to one of K phases. The E step shares each bird out among the
phases, the M step takes a few Adam steps on the expected complete likelihood.
"""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Settings:
    phases: int = 3
    birds: int = 180
    rounds: int = 6
    m_steps: int = 4
    lr: float = 0.05
    seed: int = 5


def field_season(cfg):
    rng = np.random.default_rng(cfg.seed)
    phase = rng.integers(0, cfg.phases, cfg.birds)
    age = rng.uniform(0.0, 4.0, cfg.birds)
    start = np.array([0.2, 1.4, 2.6])[phase]
    feather = 1.0 / (1.0 + np.exp(-(age - start) * 2.5)) + rng.normal(0, 0.06, cfg.birds)
    return (torch.tensor(age, dtype=torch.float32),
            torch.tensor(feather, dtype=torch.float32), phase)


class MoultMixture(nn.Module):
    def __init__(self, phases):
        super().__init__()
        self.onset = nn.Parameter(torch.linspace(0.5, 2.0, phases))
        self.speed = nn.Parameter(torch.ones(phases))
        self.log_sd = nn.Parameter(torch.full((phases,), -1.0))
        self.prior = nn.Parameter(torch.zeros(phases))

    def joint(self, age, feather):
        mean = torch.sigmoid((age[:, None] - self.onset) * self.speed.exp())
        z = (feather[:, None] - mean) / self.log_sd.exp()
        return -0.5 * z.square() - self.log_sd + torch.log_softmax(self.prior, 0)

    def e_step(self, age, feather):
        return torch.softmax(self.joint(age, feather), dim=1)

    def expected(self, share, age, feather):
        return -(share * self.joint(age, feather)).sum(1).mean()


def fit(cfg):
    torch.manual_seed(cfg.seed)
    age, feather, _ = field_season(cfg)
    mixture = MoultMixture(cfg.phases)
    adam = torch.optim.Adam(mixture.parameters(), lr=cfg.lr)
    for r in range(cfg.rounds):
        share = mixture.e_step(age, feather)  # expect: place
        for _ in range(cfg.m_steps):
            adam.zero_grad()
            bound = mixture.expected(share, age, feather)  # expect: place
            bound.backward()  # expect: place
            adam.step()
        with torch.no_grad():
            fit_now = torch.logsumexp(mixture.joint(age, feather), 1).mean()
        print(f"round {r}: log-likelihood {fit_now.item():.4f}")
    return mixture


if __name__ == "__main__":
    m = fit(Settings())
    print("onsets", [round(v, 2) for v in m.onset.tolist()])
