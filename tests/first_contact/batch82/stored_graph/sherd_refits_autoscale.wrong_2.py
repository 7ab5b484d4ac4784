"""Which sherds come from one vessel: a graph network in clusters, with histories for the rest.

Only the sherds of one trench are computed at a time; their neighbours in other trenches enter
with the embedding they had when their own trench was last computed.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    sherds: int = 48
    trenches: int = 4
    features: int = 6
    hidden: int = 10
    vessels: int = 3
    epochs: int = 6
    lr: float = 0.02


class History(nn.Module):
    def __init__(self, num, dim):
        super().__init__()
        self.register_buffer("emb", torch.zeros(num, dim))

    def pull(self):
        return self.emb.clone()

    def push(self, idx, h):
        self.emb[idx] = h


class RefitNet(nn.Module):
    def __init__(self, cfg, adj):
        super().__init__()
        self.adj = adj
        self.enter = nn.Linear(cfg.features, cfg.hidden)
        self.middle = nn.Linear(cfg.hidden, cfg.hidden)
        self.leave = nn.Linear(cfg.hidden, cfg.vessels)
        self.history = History(cfg.sherds, cfg.hidden)

    def around(self, idx, h):
        everywhere = self.history.pull()
        everywhere[idx] = h
        self.history.push(idx, h)
        return self.adj[idx] @ everywhere

    def forward(self, x, idx):
        h = torch.relu(self.enter(self.adj[idx] @ x))
        h = self.around(idx, h.detach())
        return self.leave(torch.relu(self.middle(h)))


def make_site(cfg):
    vessel = torch.arange(cfg.sherds) % cfg.vessels
    x = F.one_hot(vessel, cfg.features).float() + 0.5 * torch.randn(cfg.sherds, cfg.features)
    same = (vessel[:, None] == vessel[None, :]).float()
    edges = (torch.rand(cfg.sherds, cfg.sherds) < 0.05 + 0.2 * same).float()
    edges = ((edges + edges.t() + torch.eye(cfg.sherds)) > 0).float()
    return x, vessel, edges / edges.sum(1, keepdim=True)


def train(cfg):
    torch.manual_seed(7)
    x, vessel, adj = make_site(cfg)
    trenches = torch.randperm(cfg.sherds).chunk(cfg.trenches)
    net = RefitNet(cfg, adj)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        total = 0.0
        for idx in trenches:
            opt.zero_grad()
            loss = F.cross_entropy(net(x, idx), vessel[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(epoch, round(total / cfg.sherds, 4))


if __name__ == "__main__":
    train(Config())
