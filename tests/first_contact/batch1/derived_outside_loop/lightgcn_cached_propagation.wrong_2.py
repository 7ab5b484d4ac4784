"""LightGCN-style recommender with BPR, sampling negatives with NumPy."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class LightGCN(nn.Module):
    def __init__(self, n_users, n_items, adj, dim=8, n_layers=2):
        super().__init__()
        self.n_users, self.n_items, self.n_layers = n_users, n_items, n_layers
        self.embedding = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.item_bias = nn.Parameter(torch.zeros(n_items))
        self.register_buffer("adj", adj)

    def propagate(self):
        layer = self.embedding.weight
        layers = [layer]
        for _ in range(self.n_layers):
            layer = torch.tanh(self.adj @ layer)
            layers.append(layer)
        out = torch.stack(layers).mean(0)
        return out.split([self.n_users, self.n_items])


def bpr_loss(user, pos, neg, bias_pos, bias_neg):
    x = (user * pos).sum(-1) + bias_pos - (user * neg).sum(-1) - bias_neg
    return -F.logsigmoid(x).mean()


class Interactions:
    def __init__(self, n_users, n_items, rng):
        self.R = (rng.random((n_users, n_items)) < 0.3).astype(np.float32)
        self.R[np.arange(n_users), np.arange(n_users) % n_items] = 1
        self.n_items, self.rng = n_items, rng

    def norm_adj(self):
        n, m = self.R.shape
        A = np.zeros((n + m, n + m), dtype=np.float32)
        A[:n, n:], A[n:, :n] = self.R, self.R.T
        d = np.power(np.maximum(A.sum(1), 1), -0.5)
        return torch.from_numpy(d[:, None] * A * d[None])

    def batches(self, size):
        u, i = np.nonzero(self.R)
        order = self.rng.permutation(len(u))
        for lo in range(0, len(u) - size + 1, size):
            pick = order[lo:lo + size]
            neg = self.rng.integers(0, self.n_items, size)
            yield tuple(map(torch.from_numpy, (u[pick], i[pick], neg)))


def train(epochs=2, batch_size=10):
    rng = np.random.default_rng(66)
    torch.manual_seed(66)
    data = Interactions(10, 14, rng)
    model = LightGCN(10, 14, data.norm_adj())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        users, items = model.propagate()
        losses = []
        for u, pos, neg in data.batches(batch_size):
            loss = bpr_loss(users[u], items[pos], items[neg], model.item_bias[pos], model.item_bias[neg])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            users, items = users.detach(), items.detach()
            losses.append(loss.item())
        print(f"epoch {epoch}: bpr {np.mean(losses):.4f} over {len(losses)} batches")


if __name__ == "__main__":
    train()
