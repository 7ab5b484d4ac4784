# expect: pattern = starved-parameter
# expect: carrier = adj, self.src, self.dst, self.theta, self.phi, a
"""Demand at bike-share docks: graph convolution over an adjacency learnt from the data."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    docks: int = 14
    past: int = 6
    width: int = 16
    emb: int = 5
    steps: int = 25
    lr: float = 5e-3
    topk: int = 4


class LearntAdjacency(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.theta = nn.Linear(cfg.emb, cfg.emb, bias=False)
        self.phi = nn.Linear(cfg.emb, cfg.emb, bias=False)
        self.nodes = nn.Parameter(torch.randn(cfg.docks, cfg.emb))
        self.k = cfg.topk

    def forward(self):
        a = F.relu(torch.tanh(self.theta(self.nodes) @ self.phi(self.nodes).t()))
        keep = a.topk(self.k, dim=1).indices
        mask = torch.zeros_like(a).scatter_(1, keep, 1.0)
        a = a * mask + torch.eye(a.size(0))
        return a / a.sum(1, keepdim=True)


class GraphConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)

    def forward(self, x, adj):
        return self.lin(torch.einsum("ij,bjf->bif", adj, x))


class DockNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.graph = LearntAdjacency(cfg)
        self.gc1 = GraphConv(cfg.past, cfg.width)
        self.gc2 = GraphConv(cfg.width, cfg.width)
        self.head = nn.Linear(cfg.width, 1)

    def forward(self, x):
        adj = self.graph()
        adj = adj.detach()  # expect: place
        h = F.relu(self.gc1(x, adj))
        h = F.relu(self.gc2(h, adj)) + h
        return self.head(h).squeeze(-1)


def trips(cfg, n=200):
    drift = torch.eye(cfg.docks).roll(2, 1)
    level = torch.rand(cfg.docks)
    rows = [level]
    for _ in range(n + cfg.past):
        level = 0.6 * level + 0.3 * drift @ level + 0.1 * torch.rand(cfg.docks)
        rows.append(level)
    series = torch.stack(rows)
    x = series.unfold(0, cfg.past, 1)[:n]
    return x, series[cfg.past:cfg.past + n]


def main(cfg=Config()):
    torch.manual_seed(21)
    x, y = trips(cfg)
    model = DockNet(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    for step in range(cfg.steps):
        pick = torch.randperm(len(x))[:32]
        optimizer.zero_grad()
        loss = F.l1_loss(model(x[pick]), y[pick])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if (step + 1) % 5 == 0:
            print(f"{step + 1:3d}  mae {loss.item():.4f}")
    strongest = model.graph()[0].topk(3)
    print("dock 0 listens to", strongest.indices.tolist())


main()
