# expect: pattern = derived-outside-loop
# expect: also = stored-graph
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = _cache, users, items
"""LightGCN on a grocery basket graph, BPR loss, full ranking at the end."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def build_graph(n_users, n_items, rng):
    """Clustered interactions; one item a user is held out."""
    taste, kind = rng.integers(0, 4, n_users), rng.integers(0, 4, n_items)
    prob = np.where(taste[:, None] == kind[None, :], 0.35, 0.03)
    likes = rng.random((n_users, n_items)) < prob
    likes[np.arange(n_users), rng.integers(0, n_items, n_users)] = True
    likes[np.arange(n_users), (rng.integers(0, n_items, n_users) + 1) % n_items] = True
    held = np.array([rng.choice(np.flatnonzero(row)) for row in likes])
    train = likes.copy()
    train[np.arange(n_users), held] = False
    return train, held


def normalised_adjacency(train):
    n_users, n_items = train.shape
    u, i = np.nonzero(train)
    row = np.concatenate([u, i + n_users])
    col = np.concatenate([i + n_users, u])
    degree = np.bincount(row, minlength=n_users + n_items).clip(min=1)
    value = 1.0 / np.sqrt(degree[row] * degree[col])
    index = torch.tensor(np.stack([row, col]))
    return torch.sparse_coo_tensor(index, torch.tensor(value, dtype=torch.float32),
                                   (n_users + n_items,) * 2, check_invariants=False).coalesce()


class LightGCN(nn.Module):
    def __init__(self, adjacency, n_users, n_items, dim=16, layers=2):
        super().__init__()
        self.n_users, self.layers = n_users, layers
        self.adjacency = adjacency
        self.embedding = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.layer_logits = nn.Parameter(torch.zeros(layers + 1))
        self._cache = None

    def train(self, mode=True):
        self._cache = None          # weights are about to change
        return super().train(mode)

    def propagate(self):
        """Smoothed embeddings of all nodes; the expensive part, so keep the result."""
        if self.training or self._cache is None:  # expect: place
            mix = torch.softmax(self.layer_logits, 0)
            x = self.embedding.weight
            out = mix[0] * x
            for k in range(self.layers):
                x = torch.sparse.mm(self.adjacency, x)
                out = out + mix[k + 1] * x
            self._cache = out.split([self.n_users, len(out) - self.n_users])  # expect: place
        return self._cache  # expect: place

    def bpr(self, user, pos, neg, reg=1e-4):
        users, items = self.propagate()  # expect: place
        u, p, n = users[user], items[pos], items[neg]
        rank = F.softplus((u * n).sum(1) - (u * p).sum(1)).mean()
        ego = self.embedding.weight
        l2 = ego[user].pow(2).sum() + ego[pos + self.n_users].pow(2).sum() + ego[neg + self.n_users].pow(2).sum()
        return rank + reg * l2 / len(user)


def triples(train, batch, rng):
    user, pos = np.nonzero(train)
    order = rng.permutation(len(user))
    neg = rng.integers(0, train.shape[1], len(user))
    for k in range(0, len(order), batch):
        j = order[k:k + batch]
        yield (torch.as_tensor(user[j]), torch.as_tensor(pos[j]), torch.as_tensor(neg[j]))


@torch.no_grad()
def hit_rate(model, train, held, k=10):
    model.eval()
    users, items = model.propagate()
    score = (users @ items.T).masked_fill(torch.as_tensor(train), -1e9)
    top = score.topk(k, dim=1).indices
    return (top == torch.as_tensor(held).unsqueeze(1)).any(1).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--lr", type=float, default=0.02)
    args, _ = ap.parse_known_args()
    torch.manual_seed(8)
    rng = np.random.default_rng(8)
    train, held = build_graph(80, 60, rng)
    model = LightGCN(normalised_adjacency(train), 80, 60)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for batch in triples(train, args.batch, rng):
            loss = model.bpr(*batch)
            optimizer.zero_grad()
            loss.backward()  # expect: place
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}  bpr {np.mean(losses):.4f}  hit@10 {hit_rate(model, train, held):.3f}")


if __name__ == "__main__":
    main()
