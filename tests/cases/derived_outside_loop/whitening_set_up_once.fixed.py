"""Whitened pollen counts: the constructor's helper makes the whitening matrix, and every pass reads it."""
import torch
from torch import nn


class Whitened(nn.Module):
    def __init__(self, counts):
        super().__init__()
        self.spread = nn.Parameter(torch.full((counts.shape[1],), 0.5))
        self.head = nn.Linear(counts.shape[1], 1)
        self.prepare(counts)

    def prepare(self, counts):
        self.counts = counts
        scaled = counts.T @ counts / len(counts) + torch.diag(self.spread.exp())
        self.W = torch.linalg.cholesky(scaled)

    def risk(self, target):
        self.prepare(self.counts)
        W = self.W
        white = torch.linalg.solve_triangular(W, self.counts.T, upper=False).T
        return (self.head(white).squeeze(1) - target).pow(2).mean()


torch.manual_seed(9)
counts = torch.rand(50, 4)
target = counts.sum(1)
model = Whitened(counts)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(10):
    optimizer.zero_grad()
    loss = model.risk(target)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
