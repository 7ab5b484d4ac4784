"""LightGCN for recipe recommendation: BPR on a bipartite user/recipe graph."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_users: int = 60
    n_items: int = 40
    dim: int = 16
    n_layers: int = 3
    batch_size: int = 64
    epochs: int = 4
    lr: float = 5e-3
    weight_decay: float = 1e-4
    seed: int = 2024


def make_interactions(cfg):
    rng = np.random.default_rng(cfg.seed)
    taste = rng.normal(size=(cfg.n_users, 4))
    flavour = rng.normal(size=(cfg.n_items, 4))
    affinity = taste @ flavour.T + rng.gumbel(size=(cfg.n_users, cfg.n_items))
    liked = np.argsort(-affinity, axis=1)[:, :6]
    users = np.repeat(np.arange(cfg.n_users), 6)
    return np.stack([users, liked.reshape(-1)], axis=1)


def normalized_adjacency(pairs, n_users, n_items):
    n = n_users + n_items
    u = torch.as_tensor(pairs[:, 0])
    i = torch.as_tensor(pairs[:, 1]) + n_users
    rows = torch.cat([u, i])
    cols = torch.cat([i, u])
    degree = torch.bincount(rows, minlength=n).clamp(min=1).float()
    values = degree[rows].rsqrt() * degree[cols].rsqrt()
    indices = torch.stack([rows, cols])
    return torch.sparse_coo_tensor(indices, values, (n, n), check_invariants=True).coalesce()


class LightGCN(nn.Module):
    def __init__(self, cfg, adj):
        super().__init__()
        self.cfg = cfg
        self.adj = adj
        self.user_table = nn.Embedding(cfg.n_users, cfg.dim)
        self.item_table = nn.Embedding(cfg.n_items, cfg.dim)
        nn.init.normal_(self.user_table.weight, std=0.1)
        nn.init.normal_(self.item_table.weight, std=0.1)

    def propagate(self):
        x = torch.cat([self.user_table.weight, self.item_table.weight])
        layers = [x]
        for _ in range(self.cfg.n_layers):
            x = torch.sparse.mm(self.adj, x)
            layers.append(x)
        out = torch.stack(layers).mean(dim=0)
        return out.split([self.cfg.n_users, self.cfg.n_items])

    def ego_penalty(self, batch):
        u = self.user_table(batch["user"])
        p = self.item_table(batch["pos"])
        n = self.item_table(batch["neg"])
        return (u.square().sum() + p.square().sum() + n.square().sum()) / len(batch["user"])


class BPRSampler:
    def __init__(self, pairs, cfg):
        self.pairs = torch.as_tensor(pairs)
        self.cfg = cfg

    def __iter__(self):
        order = torch.randperm(len(self.pairs))
        for idx in order.split(self.cfg.batch_size):
            chosen = self.pairs[idx]
            yield {
                "user": chosen[:, 0],
                "pos": chosen[:, 1],
                "neg": torch.randint(self.cfg.n_items, (len(idx),)),
            }


def bpr_loss(users, items, batch):
    u = users[batch["user"]]
    pos = (u * items[batch["pos"]]).sum(dim=-1)
    neg = (u * items[batch["neg"]]).sum(dim=-1)
    return -F.logsigmoid(pos - neg).mean()


def train_epoch(model, sampler, optimizer, cfg):
    model.train()
    user_emb, item_emb = model.propagate()
    total, count = 0.0, 0
    epoch_loss = 0.0
    for batch in sampler:
        loss = bpr_loss(user_emb, item_emb, batch)
        loss = loss + cfg.weight_decay * model.ego_penalty(batch)
        epoch_loss = epoch_loss + loss
        total += loss.item() * len(batch["user"])
        count += len(batch["user"])
    optimizer.zero_grad()
    epoch_loss.backward()
    optimizer.step()
    return total / count


@torch.no_grad()
def recall_at_k(model, pairs, k=10):
    user_emb, item_emb = model.propagate()
    top = (user_emb @ item_emb.T).topk(k, dim=1).indices
    hits = sum(int(item in top[user]) for user, item in pairs)
    return hits / len(pairs)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    pairs = make_interactions(cfg)
    model = LightGCN(cfg, normalized_adjacency(pairs, cfg.n_users, cfg.n_items))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sampler = BPRSampler(pairs, cfg)
    for epoch in range(cfg.epochs):
        loss = train_epoch(model, sampler, optimizer, cfg)
        print(f"epoch {epoch}: bpr {loss:.4f}  recall@10 {recall_at_k(model, pairs):.3f}")


if __name__ == "__main__":
    main()
