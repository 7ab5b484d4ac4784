"""Which plants stand for each other? Skip-gram over the recipes of old apothecaries' books.

The table of plants is large and hardly touched by a batch, hence sparse gradients; the small
projection and its bias are dense and have an optimizer of their own.
"""
from collections import Counter
from itertools import permutations

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PLANTS, GROUPS, DIM = 120, 8, 12


def recipes(count, rng):
    """A recipe is for one complaint: most of its plants come from the group that helps there."""
    group_of = rng.integers(0, GROUPS, PLANTS)
    share = rng.dirichlet(np.full(PLANTS, 2.0))
    written = []
    for _ in range(count):
        complaint = rng.integers(0, GROUPS)
        lean = share * np.where(group_of == complaint, 40.0, 1.0)
        size = rng.integers(3, 7)
        written.append(rng.choice(PLANTS, size, replace=False, p=lean / lean.sum()))
    return written, group_of


class Remedies(nn.Module):
    def __init__(self):
        super().__init__()
        self.plants = nn.Embedding(PLANTS, DIM, sparse=True)
        nn.init.normal_(self.plants.weight, std=0.3)
        self.project = nn.Linear(DIM, DIM, bias=False)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, centre, others):
        """Logits of `others` (batch, k) to stand in a recipe with `centre` (batch)."""
        a = self.project(self.plants(centre))
        return torch.einsum("bd,bkd->bk", a, self.plants(others)) + self.bias


class Negatives:
    """Drawn by frequency to the power of 3/4."""

    def __init__(self, written, rng):
        counts = Counter(int(p) for recipe in written for p in recipe)
        weight = np.array([counts.get(p, 0) for p in range(PLANTS)], dtype=float) ** 0.75
        self.p = weight / weight.sum()
        self.rng = rng

    def draw(self, *shape):
        return torch.from_numpy(self.rng.choice(PLANTS, shape, p=self.p))


def pairs(written):
    both = [pair for recipe in written for pair in permutations(recipe.tolist(), 2)]
    return torch.tensor(both)


def neighbours_agree(model, group_of, k=3):
    """Share of the nearest plants (by cosine) that are of the same group."""
    with torch.no_grad():
        unit = F.normalize(model.plants.weight, dim=1)
        near = (unit @ unit.T - 2 * torch.eye(PLANTS)).topk(k, dim=1).indices.numpy()
    return float((group_of[near] == group_of[:, None]).mean())


def train(model, data, negatives, epochs=4, size=256, k=5):
    table = [model.plants.weight]
    rest = [model.bias, *model.project.parameters()]
    sparse = torch.optim.SparseAdam(table, lr=0.02)
    dense = torch.optim.Adam(rest, lr=0.003)
    schedule = torch.optim.lr_scheduler.LinearLR(dense, 1.0, 0.1, total_iters=epochs)
    for epoch in range(epochs):
        total, seen = 0.0, 0
        for rows in torch.randperm(len(data)).split(size):
            centre, other = data[rows].unbind(1)
            logits = model(centre, torch.cat([other[:, None], negatives.draw(len(rows), k)], 1))
            truth = torch.zeros_like(logits)
            truth[:, 0] = 1
            loss = F.binary_cross_entropy_with_logits(logits, truth, reduction="none").sum(1).mean()
            dense.zero_grad()
            loss.backward()
            sparse.zero_grad()
            nn.utils.clip_grad_norm_(rest, 1.0)
            dense.step()
            sparse.step()
            total += loss.item() * len(rows)
            seen += len(rows)
        schedule.step()
        yield epoch, total / seen


if __name__ == "__main__":
    torch.manual_seed(1543)
    rng = np.random.default_rng(1543)
    written, group_of = recipes(400, rng)
    model = Remedies()
    print(f"before: {neighbours_agree(model, group_of):.3f}")
    for epoch, loss in train(model, pairs(written), Negatives(written, rng)):
        print(f"epoch {epoch} loss {loss:.4f} neighbours {neighbours_agree(model, group_of):.3f}")
