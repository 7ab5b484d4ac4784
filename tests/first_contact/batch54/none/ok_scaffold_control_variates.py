# expect: pattern = none
# expect: raises = nothing
"""SCAFFOLD: federated training with control variates, on vineyard frost stations.

Stations disagree (altitude), so each keeps a correction c_i and the server keeps c.
"""
from copy import deepcopy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(90)


class FrostNet(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))


class Station:
    def __init__(self, seed, like):
        gen = torch.Generator().manual_seed(seed)
        altitude = torch.rand(1, generator=gen)
        self.x = torch.randn(64, 5, generator=gen)
        self.x[:, 0] += 2 * altitude
        signal = self.x[:, 1] - 0.8 * self.x[:, 0] + 0.3 * self.x[:, 2] * self.x[:, 3]
        self.y = (signal + 0.2 * torch.randn(64, generator=gen) > -0.5).float()
        self.c = [torch.zeros_like(p) for p in like.parameters()]

    def work(self, server, c_server, steps=5, lr=0.1):
        local = deepcopy(server)
        opt = torch.optim.SGD(local.parameters(), lr=lr)
        last = None
        for s in range(steps):
            rows = torch.arange(s * 12, s * 12 + 16) % len(self.x)
            loss = F.binary_cross_entropy_with_logits(local(self.x[rows]).squeeze(1), self.y[rows])
            opt.zero_grad()
            loss.backward()
            for p, c, ci in zip(local.parameters(), c_server, self.c):
                p.grad += c - ci
            opt.step()
            last = loss
        with torch.no_grad():
            moved = [w - p for w, p in zip(server.parameters(), local.parameters())]
            fresh = [ci - c + m / (steps * lr) for ci, c, m in zip(self.c, c_server, moved)]
            change = [f - ci for f, ci in zip(fresh, self.c)]
        self.c = fresh
        return moved, change, last.item()


class Server:
    def __init__(self, stations=8):
        self.net = FrostNet()
        self.stations = [Station(500 + i, self.net) for i in range(stations)]
        self.c = [torch.zeros_like(p) for p in self.net.parameters()]
        self.opt = torch.optim.SGD(self.net.parameters(), lr=1.0)

    def round(self, invited):
        totals, changes, losses = None, None, []
        for i in invited:
            moved, change, loss = self.stations[i].work(self.net, self.c)
            totals = moved if totals is None else [a + b for a, b in zip(totals, moved)]
            changes = change if changes is None else [a + b for a, b in zip(changes, change)]
            losses.append(loss)
        self.opt.zero_grad()
        for p, t in zip(self.net.parameters(), totals):
            p.grad = t / len(invited)
        self.opt.step()
        for c, d in zip(self.c, changes):
            c += d / len(self.stations)
        return sum(losses) / len(losses)


if __name__ == "__main__":
    server = Server()
    for rnd in range(15):
        mean = server.round(torch.randperm(8)[:4].tolist())
        if rnd % 3 == 0 or rnd == 14:
            print(f"round {rnd:2d}  mean local loss {mean:.4f}")
