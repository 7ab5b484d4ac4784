"""Pitch offset, inharmonicity and damping of cimbalom strings from a decaying tone; three heads."""
import math

import torch
from torch import nn


def tones(n, rate=400, seconds=0.4):
    t = torch.arange(int(rate * seconds)) / rate
    cents = torch.rand(n, 1) * 2 - 1
    stiff = torch.rand(n, 1)
    damp = torch.rand(n, 1)
    wave = 0
    for k in (1, 2, 3):
        f = 30 * k * 2 ** (cents / 12) * torch.sqrt(1 + 0.03 * stiff * k * k)
        wave = wave + torch.exp(-t * (2 + 10 * damp)) * torch.sin(2 * math.pi * f * t) / k
    wave = wave + 0.01 * torch.randn(n, len(t))
    return wave, {"cents": cents, "stiff": stiff, "damp": damp}


class Encoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 25, stride=5)
        self.mix = nn.Conv1d(12, 16, 5, stride=2)
        self.out = nn.Linear(16 * 12, width)

    def forward(self, wave):
        h = torch.tanh(self.conv(wave.unsqueeze(1)))
        h = torch.relu(self.mix(h))
        return torch.tanh(self.out(h.flatten(1)))


class TuningModule(nn.Module):
    """Home-made, after the fashion of the larger frameworks."""

    weights = {"cents": 1.0, "stiff": 0.5, "damp": 0.5}

    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.heads = nn.ModuleDict({name: nn.Linear(24, 1) for name in self.weights})

    def training_step(self, batch):
        wave, truth = batch
        feats = self.encoder(wave)
        return {name: self.weights[name] * nn.functional.smooth_l1_loss(head(feats), truth[name])
                for name, head in self.heads.items()}

    @torch.no_grad()
    def validation_step(self, batch):
        wave, truth = batch
        feats = self.encoder(wave)
        return {name: (head(feats) - truth[name]).abs().mean().item() for name, head in self.heads.items()}

    def configure_optimizers(self):
        groups = [{"params": self.encoder.parameters()}, {"params": self.heads.parameters(), "lr": 8e-3}]
        return torch.optim.Adam(groups, lr=3e-3)


class Runner:
    def __init__(self, max_epochs, clip):
        self.max_epochs, self.clip = max_epochs, clip
        self.logged = {}

    def log(self, name, value):
        old = self.logged.get(name, value)
        self.logged[name] = 0.9 * old + 0.1 * value

    def fit(self, module, loader, val):
        opt = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            for batch in loader:
                opt.zero_grad(set_to_none=True)
                losses = module.training_step(batch)
                losses["cents"].backward()
                for name, loss in losses.items():
                    self.log(name, loss.item())
                nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                opt.step()
            errors = module.validation_step(val)
            print(epoch, {k: f"{v:.4f}" for k, v in self.logged.items()}, {k: f"{v:.3f}" for k, v in errors.items()})


if __name__ == "__main__":
    torch.manual_seed(88)
    train = [tones(32) for _ in range(8)]
    Runner(max_epochs=4, clip=1.0).fit(TuningModule(), train, tones(64))
