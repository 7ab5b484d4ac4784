"""Who witnessed whose charter? Link prediction between medieval towns, two hops of smoothing.

Optimiser is the one from my 2017 notebooks (momentum with decoupled decay).
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer

N_TOWNS, DIM, HOPS = 60, 12, 2


class HeavyBall(Optimizer):
    def __init__(self, params, lr, momentum=0.9, decay=1e-4):
        super().__init__(params, dict(lr=lr, momentum=momentum, decay=decay))

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "v" not in state:
                    state["v"] = torch.zeros_like(p.data)
                state["v"].mul_(group["momentum"]).add_(p.grad.data)
                p.data.mul_(1 - group["lr"] * group["decay"])
                p.data.add_(state["v"], alpha=-group["lr"])


def charters(rng):
    """Witness pairs: towns of one river valley sign together more often."""
    valley = rng.integers(0, 3, N_TOWNS)
    a, b = rng.integers(0, N_TOWNS, (2, 1500))
    together = rng.random(1500) < np.where(valley[a] == valley[b], 0.92, 0.06)
    keep = a != b
    return (torch.tensor(np.stack([a, b])[:, keep]), torch.tensor(together[keep], dtype=torch.float32))


def road_matrix(pairs, signed):
    linked = pairs[:, signed > 0]
    index = torch.cat([linked, linked.flip(0), torch.arange(N_TOWNS).repeat(2, 1)], dim=1)
    roads = torch.sparse_coo_tensor(index, torch.ones(index.shape[1]), (N_TOWNS, N_TOWNS)).coalesce()
    degree = torch.sparse.sum(roads, dim=1).to_dense()
    i, j = roads.indices()
    return torch.sparse_coo_tensor(roads.indices(), roads.values() / (degree[i] * degree[j]).sqrt(), roads.shape)


class WitnessNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.seed = nn.Embedding(N_TOWNS, DIM)
        nn.init.normal_(self.seed.weight, std=0.4)
        self.mix = nn.ModuleList(nn.Linear(DIM, DIM) for _ in range(HOPS))
        self.bilinear = nn.Parameter(torch.eye(DIM) * 0.2)
        self.bias = nn.Parameter(torch.zeros(()))

    def town_profiles(self, roads):
        h = self.seed.weight
        for layer in self.mix:
            h = torch.tanh(layer(torch.sparse.mm(roads, h))) + h
        return h

    def score(self, towns, pairs):
        return torch.einsum("nd,de,ne->n", towns[pairs[0]], self.bilinear, towns[pairs[1]]) + self.bias


def auc(score, label):
    up, down = score[label > 0], score[label == 0]
    return (up[:, None] > down[None, :]).float().mean().item()


def main():
    torch.manual_seed(3)
    pairs, signed = charters(np.random.default_rng(3))
    train, held = slice(0, 1000), slice(1000, None)
    roads = road_matrix(pairs[:, train], signed[train])
    net = WitnessNet()
    opt = HeavyBall(net.parameters(), lr=0.4)

    for epoch in range(10):
        total, seen = 0.0, 0
        for rows in torch.randperm(pairs[:, train].shape[1]).split(200):
            towns = net.town_profiles(roads)
            logits = net.score(towns, pairs[:, rows])
            loss = F.binary_cross_entropy_with_logits(logits, signed[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, seen = total + loss.item() * len(rows), seen + len(rows)
        with torch.no_grad():
            quality = auc(net.score(net.town_profiles(roads), pairs[:, held]), signed[held])
        print("epoch %d  nll %.4f  held-out AUC %.3f" % (epoch, total / seen, quality))


if __name__ == "__main__":
    main()
