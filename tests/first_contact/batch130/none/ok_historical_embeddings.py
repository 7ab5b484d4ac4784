"""Mini-batch GCN: neighbours outside the batch are read from a table of earlier embeddings."""
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class History(nn.Module):
    """Last known hidden state of every node."""

    def __init__(self, nodes, width):
        super().__init__()
        self.register_buffer("table", torch.zeros(nodes, width))
        self.register_buffer("age", torch.zeros(nodes, dtype=torch.long))

    def pull(self, nodes):
        return self.table[nodes]

    @torch.no_grad()
    def push(self, nodes, values):
        self.table[nodes] = values
        self.age += 1
        self.age[nodes] = 0


class CachedGCN(nn.Module):
    def __init__(self, nodes, features, width, classes):
        super().__init__()
        self.encode = nn.Linear(features, width)
        self.mix = nn.Linear(2 * width, width)
        self.classify = nn.Linear(width, classes)
        self.history = History(nodes, width)
        self.last_hidden = None

    def forward(self, x, adjacency, batch):
        fresh = torch.relu(self.encode(x[batch]))
        around = self.history.pull(torch.arange(len(x)))
        around[batch] = fresh
        self.history.push(batch, fresh)
        pooled = adjacency[batch] @ around
        hidden = torch.tanh(self.mix(torch.cat([fresh, pooled], dim=1)))
        self.last_hidden = hidden
        return self.classify(hidden)


class Monitor:
    def __init__(self, window=8):
        self.recent = deque(maxlen=window)
        self.mean_norm = 0.0

    def __call__(self, model, loss):
        self.recent.append(loss.detach())
        norm = model.last_hidden.norm(dim=1).mean()
        self.mean_norm = 0.9 * self.mean_norm + 0.1 * norm.item()

    def line(self):
        stale = torch.stack(tuple(self.recent)).mean()
        return f"loss {stale:.4f}  |h| {self.mean_norm:.3f}"


def block_graph(rng, nodes, classes, features):
    labels = rng.integers(0, classes, nodes)
    same = labels[:, None] == labels[None, :]
    edges = rng.random((nodes, nodes)) < np.where(same, 0.2, 0.02)
    edges = np.triu(edges, 1)
    weights = (edges | edges.T).astype(np.float32)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1)
    x = rng.normal(size=(nodes, features)) + 0.6 * np.eye(classes, features)[labels]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(weights), torch.tensor(labels)


def main(nodes=120, classes=4, features=10, epochs=12, batch_size=30):
    torch.manual_seed(8)
    x, adjacency, labels = block_graph(np.random.default_rng(8), nodes, classes, features)
    model = CachedGCN(nodes, features, 16, classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    monitor = Monitor()
    for epoch in range(epochs):
        for batch in torch.randperm(nodes).split(batch_size):
            loss = F.cross_entropy(model(x, adjacency, batch), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            monitor(model, loss)
        if epoch % 4 == 0:
            print(f"epoch {epoch}: {monitor.line()}, oldest {int(model.history.age.max())}")


if __name__ == "__main__":
    main()
