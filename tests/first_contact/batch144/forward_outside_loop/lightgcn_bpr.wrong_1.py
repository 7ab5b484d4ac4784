"""LightGCN with BPR loss on implicit feedback (plain PyTorch, sparse adjacency)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_users", type=int, default=80)
    parser.add_argument("--n_items", type=int, default=60)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch_size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--decay", type=float, default=1e-4)
    parser.add_argument("--topk", type=int, default=10)
    parser.add_argument("--seed", type=int, default=2020)
    return parser.parse_args()


class Interactions:
    """Binary user-item matrix with a block structure, split into train and test."""

    def __init__(self, n_users, n_items, rng):
        self.n_users, self.n_items = n_users, n_items
        taste = rng.integers(0, 4, n_users)
        genre = rng.integers(0, 4, n_items)
        prob = np.where(taste[:, None] == genre[None, :], 0.5, 0.04)
        clicks = rng.random((n_users, n_items)) < prob
        held_out = clicks & (rng.random(clicks.shape) < 0.2)
        self.train = clicks & ~held_out
        self.test = held_out
        self.pairs = np.argwhere(self.train)
        self.rng = rng

    def norm_adj(self):
        rows, cols = self.train.nonzero()
        cols = cols + self.n_users
        index = np.concatenate([[rows, cols], [cols, rows]], axis=1)
        degree = np.bincount(index[0], minlength=self.n_users + self.n_items).clip(1)
        values = 1.0 / np.sqrt(degree[index[0]] * degree[index[1]])
        size = (self.n_users + self.n_items,) * 2
        return torch.sparse_coo_tensor(
            torch.as_tensor(index), torch.as_tensor(values, dtype=torch.float32), size
        ).coalesce()

    def bpr_batches(self, batch_size):
        order = self.rng.permutation(len(self.pairs))
        for start in range(0, len(order), batch_size):
            user, pos = self.pairs[order[start:start + batch_size]].T
            neg = self.rng.integers(0, self.n_items, len(user))
            yield torch.as_tensor(user), torch.as_tensor(pos), torch.as_tensor(neg)


class LightGCN(nn.Module):
    def __init__(self, n_users, n_items, dim, n_layers, adj):
        super().__init__()
        self.n_users, self.n_items, self.n_layers = n_users, n_items, n_layers
        self.embedding = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.register_buffer("adj", adj)

    def propagate(self):
        h = self.embedding.weight
        layers = [h]
        for _ in range(self.n_layers):
            h = torch.sparse.mm(self.adj, h)
            layers.append(h)
        out = torch.stack(layers, dim=1).mean(dim=1)
        return torch.split(out, [self.n_users, self.n_items])

    def ego(self, user, pos, neg):
        w = self.embedding.weight
        return w[user], w[pos + self.n_users], w[neg + self.n_users]


def bpr_loss(u, i, j):
    return -F.logsigmoid((u * i).sum(-1) - (u * j).sum(-1)).mean()


def train_one_epoch(model, data, optimizer, args):
    model.train()
    user_emb, item_emb = model.propagate()
    losses = []
    for user, pos, neg in data.bpr_batches(args.batch_size):
        loss = bpr_loss(user_emb[user], item_emb[pos], item_emb[neg])
        reg = sum(e.pow(2).sum() for e in model.ego(user, pos, neg)) / len(user)
        loss = loss + args.decay * reg
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


@torch.no_grad()
def recall_at_k(model, data, k):
    model.eval()
    user_emb, item_emb = model.propagate()
    scores = user_emb @ item_emb.t()
    scores[torch.as_tensor(data.train)] = -1e9
    top = scores.topk(k, dim=1).indices
    hits = torch.as_tensor(data.test).gather(1, top).sum(1).float()
    total = torch.as_tensor(data.test).sum(1).clamp(min=1)
    return (hits / total).mean().item()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    data = Interactions(args.n_users, args.n_items, np.random.default_rng(args.seed))
    model = LightGCN(args.n_users, args.n_items, args.dim, args.layers, data.norm_adj())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        loss = train_one_epoch(model, data, optimizer, args)
        recall = recall_at_k(model, data, args.topk)
        print(f"epoch {epoch}: bpr {loss:.4f} recall@{args.topk} {recall:.4f}")


if __name__ == "__main__":
    main()
