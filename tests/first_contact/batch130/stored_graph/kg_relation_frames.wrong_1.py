"""Link prediction on a small synthetic knowledge graph with orthogonal relation maps."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class KGConfig:
    entities: int = 60
    relations: int = 5
    dim: int = 12
    triples: int = 400
    batch: int = 32
    negatives: int = 4
    epochs: int = 3
    lr: float = 5e-3
    margin: float = 2.0
    seed: int = 11


class OrthogonalKGE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.entity = nn.Embedding(cfg.entities, cfg.dim)
        self.generator = nn.Parameter(0.2 * torch.randn(cfg.relations, cfg.dim, cfg.dim))
        self._frames = {}

    def train(self, mode=True):
        self._frames.clear()
        return super().train(mode)

    def frame(self, relation):
        # the matrix exponential is the expensive part, positives and negatives both ask for it
        if relation not in self._frames:
            g = self.generator[relation]
            turn = torch.linalg.matrix_exp(g - g.t())
            self._frames[relation] = turn.detach()
        return self._frames[relation]

    def distance(self, head, relation, tail):
        moved = self.entity(head) @ self.frame(relation)
        return (moved - self.entity(tail)).norm(dim=-1)


class TripleStore:
    """Hands out batches that hold one relation each."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.head = self.rng.integers(0, cfg.entities, cfg.triples)
        self.rel = self.rng.integers(0, cfg.relations, cfg.triples)
        self.tail = (self.head * 7 + self.rel * 3 + 1) % cfg.entities

    def batches(self):
        chunks = []
        for relation in range(self.cfg.relations):
            rows = self.rng.permutation(np.flatnonzero(self.rel == relation))
            for start in range(0, len(rows), self.cfg.batch):
                chunks.append((relation, rows[start:start + self.cfg.batch]))
        for pick in self.rng.permutation(len(chunks)):
            relation, rows = chunks[pick]
            corrupt = self.rng.integers(0, self.cfg.entities, (len(rows), self.cfg.negatives))
            yield (relation, torch.as_tensor(self.head[rows]),
                   torch.as_tensor(self.tail[rows]), torch.as_tensor(corrupt))


def margin_loss(model, relation, head, tail, corrupt):
    good = model.distance(head, relation, tail)
    bad = model.distance(head.unsqueeze(1), relation, corrupt)
    return F.relu(model.cfg.margin + good.unsqueeze(1) - bad).mean()


@torch.no_grad()
def mean_rank(model, store):
    model.eval()
    everyone = torch.arange(model.cfg.entities)
    ranks = []
    for relation, head, tail, _ in store.batches():
        d = model.distance(head.unsqueeze(1), relation, everyone)
        ranks.append((d < d.gather(1, tail.unsqueeze(1))).sum(1).float() + 1)
    return torch.cat(ranks).mean().item()


def main():
    cfg = KGConfig()
    torch.manual_seed(cfg.seed)
    store = TripleStore(cfg)
    model = OrthogonalKGE(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for relation, head, tail, corrupt in store.batches():
            optimizer.zero_grad()
            loss = margin_loss(model, relation, head, tail, corrupt)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}  loss {total:.3f}  mean rank {mean_rank(model, store):.1f}")


if __name__ == "__main__":
    main()
