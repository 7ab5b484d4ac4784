"""Instance discrimination: every sample is its own class, prototypes live in a bank."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)

SETTINGS = {
    "samples": 96,
    "channels": 3,
    "length": 24,
    "embedding": 16,
    "temperature": 0.2,
    "momentum": 0.5,
    "batch": 24,
    "epochs": 4,
    "lr": 0.05,
}


class SignalEncoder(nn.Module):
    def __init__(self, channels, embedding):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(channels, 16, 5, padding=2),
            nn.GELU(),
            nn.Conv1d(16, 32, 5, stride=2, padding=2),
            nn.GELU(),
        )
        self.project = nn.Linear(32, embedding)

    def forward(self, x):
        pooled = self.body(x).mean(dim=-1)
        return F.normalize(self.project(pooled), dim=1)


class InstanceCriterion(nn.Module):
    def __init__(self, samples, embedding, temperature, momentum):
        super().__init__()
        self.temperature = temperature
        self.momentum = momentum
        bound = 1.0 / math.sqrt(embedding / 3)
        start = torch.empty(samples, embedding).uniform_(-bound, bound)
        self.register_buffer("bank", F.normalize(start, dim=1))

    @torch.no_grad()
    def refresh(self, features, index):
        rows = self.bank[index] * self.momentum + features * (1 - self.momentum)
        self.bank[index] = F.normalize(rows, dim=1)

    def forward(self, features, index):
        similarity = features @ self.bank.clone().t()
        loss = F.cross_entropy(similarity / self.temperature, index)
        self.refresh(features, index)
        return loss


def augment(x):
    noise = 0.1 * torch.randn_like(x)
    gain = 1 + 0.2 * torch.randn(x.size(0), 1, 1)
    shift = int(torch.randint(-3, 4, (1,)))
    return torch.roll(x * gain + noise, shift, dims=-1)


def make_signals(count, channels, length):
    t = torch.linspace(0, 2 * math.pi, length)
    frequency = torch.rand(count, channels, 1) * 4 + 1
    phase = torch.rand(count, channels, 1) * 2 * math.pi
    return torch.sin(frequency * t + phase)


class Pretrainer:
    def __init__(self, settings):
        self.cfg = settings
        self.data = make_signals(settings["samples"], settings["channels"], settings["length"])
        self.encoder = SignalEncoder(settings["channels"], settings["embedding"])
        self.criterion = InstanceCriterion(
            settings["samples"], settings["embedding"],
            settings["temperature"], settings["momentum"],
        )
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=settings["lr"], momentum=0.9)

    def epoch(self):
        order = torch.randperm(self.cfg["samples"])
        losses = []
        for index in order.split(self.cfg["batch"]):
            features = self.encoder(augment(self.data[index]))
            loss = self.criterion(features, index)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def fit(self):
        for number in range(self.cfg["epochs"]):
            print(f"epoch {number + 1}: nce {self.epoch():.4f}")


if __name__ == "__main__":
    Pretrainer(SETTINGS).fit()
