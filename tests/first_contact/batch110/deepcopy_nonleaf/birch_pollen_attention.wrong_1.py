"""Tomorrow's birch pollen from two weeks of weather: attention over the days.

Tries several learning rates, each from the best weights so far.
"""
import copy

import torch
from torch import nn

DAYS, FIELDS = 14, 4


class DayAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.keys = nn.Linear(dim, dim)
        self.query = nn.Parameter(torch.randn(dim) / dim ** 0.5)
        self.looked_at = None

    def forward(self, h):
        scores = torch.einsum("btd,d->bt", self.keys(h), self.query)
        weights = scores.softmax(-1)
        self.looked_at = weights
        return torch.einsum("bt,btd->bd", weights, h)


class PollenNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(FIELDS, dim), nn.ReLU())
        self.days = nn.Parameter(0.1 * torch.randn(DAYS, dim))
        self.attention = DayAttention(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, weather):
        return self.out(self.attention(self.embed(weather) + self.days)).squeeze(-1)


def springs(n, seed):
    g = torch.Generator().manual_seed(seed)
    weather = torch.randn(n, DAYS, FIELDS, generator=g)
    warmth = weather[:, -5:, 0].mean(1) - 0.5 * weather[:, -2:, 1].mean(1)
    return weather, warmth + 0.1 * torch.randn(n, generator=g)


def rmse(model, weather, pollen):
    model.eval()
    with torch.no_grad():
        error = (model(weather) - pollen).pow(2).mean().sqrt().item()
    model.train()
    return error


def train(model, data, dev, rates=(0.02, 0.5, 0.1, 0.01), epochs=3):
    weather, pollen = data
    best, lowest = None, float("inf")
    for number, lr in enumerate(rates):
        opt = torch.optim.Adam(model.parameters(), lr=lr)
        for _ in range(epochs):
            total = 0.0
            for rows in torch.randperm(len(weather)).split(20):
                opt.zero_grad()
                loss = (model(weather[rows]) - pollen[rows]).pow(2).mean()
                loss.backward()
                opt.step()
                total += loss.item() * len(rows)
            if total < lowest:
                best, lowest = model, total
        model.load_state_dict(best.state_dict())
        error = rmse(model, *dev)
        days = model.attention.looked_at.mean(0).topk(3).indices.tolist()
        print(f"round {number}: lr {lr:.4f}, mse {lowest / len(weather):.4f}, dev rmse {error:.3f}, looks at days {days}")
    return best


if __name__ == "__main__":
    torch.manual_seed(31)
    train(PollenNet(), springs(320, 1), springs(160, 2))
