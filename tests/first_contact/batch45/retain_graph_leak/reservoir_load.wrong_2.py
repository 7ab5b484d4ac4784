"""Electric load an hour ahead: a fixed random reservoir, a learned way in and a learned way out."""
import math

import torch
from torch import nn


class Reservoir(nn.Module):
    def __init__(self, inputs, size, radius=0.9, leak=0.4):
        super().__init__()
        links = torch.randn(size, size) * (torch.rand(size, size) < 0.2)
        links = links * (radius / torch.linalg.eigvals(links).abs().max())
        self.register_buffer("links", links)
        self.way_in = nn.Linear(inputs, size)
        self.way_out = nn.Linear(size, 1)
        self.leak = leak

    def step(self, pool, x):
        fresh = torch.tanh(pool @ self.links + self.way_in(x))
        return (1 - self.leak) * pool + self.leak * fresh

    def forward(self, pool, window):
        """window: (hours, feeders, inputs)"""
        answers = []
        for x in window:
            pool = self.step(pool.detach(), x)
            answers.append(self.way_out(pool).squeeze(-1))
        return torch.stack(answers), pool


def feeders(count, hours):
    clock = torch.arange(float(hours)).unsqueeze(1)
    shift = 6 * torch.rand(count)
    load = 1 + 0.5 * torch.sin(2 * math.pi * (clock + shift) / 24)
    load = load + 0.05 * torch.randn(hours, count)
    warmth = torch.cos(2 * math.pi * clock / 24).expand(hours, count)
    return load, torch.stack([load, warmth], dim=-1)


def train(hours=240, window=12, rounds=1):
    torch.manual_seed(23)
    load, inputs = feeders(5, hours + 1)
    net = Reservoir(2, 24)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(rounds):
        pool = torch.zeros(5, 24)
        for start in range(0, hours, window):
            answers, pool = net(pool, inputs[start:start + window])
            wrong = nn.functional.mse_loss(answers, load[start + 1:start + window + 1])
            opt.zero_grad()
            wrong.backward()
            opt.step()
            if start % 60 == 0:
                print(f"hour {start}: mse {wrong.item():.4f}")


if __name__ == "__main__":
    train()
