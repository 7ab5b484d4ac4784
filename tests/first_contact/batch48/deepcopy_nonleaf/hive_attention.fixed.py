


"""Will the colony swarm within a week? Attention over the hours of a hive's scale
and thermometer log. The best network so far is kept for the final report."""
import copy
import math

import torch
from torch import nn


class HourAttention(nn.Module):
    def __init__(self, dim, sharpen=0.02):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / math.sqrt(dim))
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.sharpen = sharpen
        self.focus = None
        self.focus_cost = None

    def forward(self, hours):
        score = self.key(hours) @ self.query
        focus = torch.softmax(score, dim=1)
        self.focus = focus
        self.focus_cost = -self.sharpen * (focus * focus.clamp_min(1e-9).log()).sum(1).mean()
        return (focus.unsqueeze(-1) * self.value(hours)).sum(1)


class HiveNet(nn.Module):
    def __init__(self, channels=3, dim=12):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(channels, dim), nn.Tanh())
        self.attend = HourAttention(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, log):
        return self.out(self.attend(self.embed(log))).squeeze(1)


class BestKeeper:
    def __init__(self):
        self.score = float("inf")
        self.net = None

    def offer(self, net, score):
        if score < self.score:
            self.score = score
            net.attend.focus = net.attend.focus_cost = None
            self.net = copy.deepcopy(net)


def logs(n, hours=24, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, hours, 3, generator=g)
    swarm = (torch.rand(n, generator=g) < 0.5).float()
    when = torch.randint(0, hours, (n,), generator=g)
    x[torch.arange(n), when, 0] += 4.0 * swarm
    return x, swarm


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        hit = ((net(x) > 0).float() == y).float().mean().item()
    net.train()
    return hit


def main():
    torch.manual_seed(1)
    x, y = logs(128, seed=1)
    vx, vy = logs(64, seed=2)
    net = HiveNet()
    keeper = BestKeeper()
    bce = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(net.parameters(), lr=0.03)
    for epoch in range(12):
        seen = 0.0
        for lo in range(0, 128, 32):
            opt.zero_grad()
            cost = bce(net(x[lo:lo + 32]), y[lo:lo + 32]) + net.attend.focus_cost
            cost.backward()
            opt.step()
            seen += cost.item() / 4
        peak = (net.attend.focus.max(1).values).mean().item()
        print(f"epoch {epoch}: cost {seen:.4f}, mean peak focus {peak:.3f}")
        keeper.offer(net, seen)
    print(f"kept network: {accuracy(keeper.net, vx, vy):.3f}")


if __name__ == "__main__":
    main()
