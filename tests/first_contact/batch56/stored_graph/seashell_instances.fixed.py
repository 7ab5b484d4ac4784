# Unsupervised embedding of seashell outlines by instance discrimination:
# every shell is its own class, its prototype lives in a memory bank (one row a shell).
import math

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

SHELLS, POINTS, DIM = 96, 32, 16
NEGATIVES, T, MOMENTUM = 40, 0.1, 0.5


def outlines(n, rng):
    """Radius of the outline at POINTS angles; a shell = a few harmonics."""
    ang = np.linspace(0, 2 * math.pi, POINTS, endpoint=False)
    amp = rng.normal(0, 0.3, size=(n, 4))
    ph = rng.uniform(0, 2 * math.pi, size=(n, 4))
    r = 1 + sum(amp[:, k:k + 1] * np.cos((k + 2) * ang + ph[:, k:k + 1]) for k in range(4))
    return torch.from_numpy(r.astype("float32"))


class LinearAverage(nn.Module):
    """Scores against the bank, and the bank's moving average."""

    def __init__(self, n_items, dim):
        super().__init__()
        bank = F.normalize(torch.randn(n_items, dim), dim=1)
        self.register_buffer("bank", bank)

    def forward(self, feat, idx):
        neg = torch.randint(self.bank.size(0), (feat.size(0), NEGATIVES))
        pick = torch.cat([idx[:, None], neg], dim=1)
        entries = self.bank[pick]
        return torch.einsum("bd,bkd->bk", feat, entries) / T

    def update(self, feat, idx):
        mixed = MOMENTUM * self.bank[idx] + (1 - MOMENTUM) * feat.detach()
        self.bank = self.bank.index_copy(0, idx, F.normalize(mixed, dim=1))


class OutlineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 12, 5, padding=2, padding_mode="circular")
        self.conv2 = nn.Conv1d(12, 24, 5, stride=2, padding=2, padding_mode="circular")
        self.fc = nn.Linear(24 * (POINTS // 2), DIM)

    def forward(self, r):
        h = F.relu(self.conv1(r.unsqueeze(1) - 1))
        h = F.relu(self.conv2(h))
        return F.normalize(self.fc(h.flatten(1)), dim=1)


def augment(r):
    r = torch.roll(r, int(torch.randint(-2, 3, ())), dims=1)
    return r * (1 + 0.05 * torch.randn(r.size(0), 1)) + 0.02 * torch.randn_like(r)


def knn_hit_rate(net, lem, shells):
    net.eval()
    with torch.no_grad():
        sims = net(shells) @ lem.bank.t()
    net.train()
    return (sims.argmax(1) == torch.arange(len(shells))).float().mean().item()


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(3)
    shells = outlines(SHELLS, rng)
    net, lem = OutlineNet(), LinearAverage(SHELLS, DIM)
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(12):
        running = []
        for idx in torch.randperm(SHELLS).split(24):
            feat = net(augment(shells[idx]))
            scores = lem(feat, idx)
            loss = F.cross_entropy(scores, torch.zeros(len(idx), dtype=torch.long))
            opt.zero_grad()
            loss.backward()
            opt.step()
            lem.update(feat, idx)
            running.append(loss.item())
        print("epoch %d  nce %.3f  self-retrieval %.2f"
              % (epoch, np.mean(running), knn_hit_rate(net, lem, shells)))


if __name__ == "__main__":
    main()
