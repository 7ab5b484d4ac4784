"""Catalogue of stamps: one encoder; heads for country, decade and a rebuilt picture."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Settings:
    pixels: int = 36
    sketch: int = 14
    countries: int = 5
    batch: int = 16
    steps: int = 8
    lr: float = 5e-3
    weights: dict = field(default_factory=lambda: {"picture": 1.0, "country": 0.5, "decade": 0.2})


class Catalogue(nn.Module):
    def __init__(self, s: Settings):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(s.pixels, 32), nn.GELU(), nn.Linear(32, s.sketch), nn.LayerNorm(s.sketch)
        )
        self.heads = nn.ModuleDict(
            {
                "picture": nn.Linear(s.sketch, s.pixels),
                "country": nn.Linear(s.sketch, s.countries),
                "decade": nn.Linear(s.sketch, 1),
            }
        )

    def encode(self, pictures):
        return self.encoder(pictures)

    def answer(self, name, sketch):
        return self.heads[name](sketch)


def objectives(model, stamps):
    """Name and loss of every head, one after the other."""
    sketch = model.encode(stamps["picture"])
    yield "picture", F.mse_loss(model.answer("picture", sketch), stamps["picture"])
    yield "country", F.cross_entropy(model.answer("country", sketch), stamps["country"])
    yield "decade", F.smooth_l1_loss(model.answer("decade", sketch).squeeze(1), stamps["decade"])


def draw_stamps(s, total=64):
    country = torch.randint(s.countries, (total,))
    decade = torch.rand(total) * 2 - 1
    motif = torch.randn(s.countries, s.pixels)[country]
    ink = torch.linspace(-1, 1, s.pixels)
    return {
        "picture": motif + decade[:, None] * ink + 0.1 * torch.randn(total, s.pixels),
        "country": country,
        "decade": decade,
    }


def pick(stamps, rows):
    return {key: column[rows] for key, column in stamps.items()}


def train(s: Settings):
    model = Catalogue(s)
    optimizer = torch.optim.AdamW(model.parameters(), lr=s.lr)
    stamps = draw_stamps(s)
    log = []
    for step in range(s.steps):
        rows = torch.randint(len(stamps["decade"]), (s.batch,))
        optimizer.zero_grad()
        report = {}
        total = 0.0
        for name, loss in objectives(model, pick(stamps, rows)):
            total = total + loss
            report[name] = loss.item()
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.append(report)
        print(step, " ".join(f"{name}={value:.3f}" for name, value in report.items()))
    return model, log


if __name__ == "__main__":
    torch.manual_seed(14)
    train(Settings())
