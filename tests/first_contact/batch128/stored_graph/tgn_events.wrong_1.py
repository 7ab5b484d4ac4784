"""Link prediction on a stream of (user, shop, time) events with a small temporal graph model."""
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class EventStream:
    n_users: int = 30
    n_shops: int = 12
    n_events: int = 320
    seed: int = 11
    src: np.ndarray = field(init=False)
    dst: np.ndarray = field(init=False)
    ts: np.ndarray = field(init=False)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        taste = rng.integers(0, self.n_shops, size=self.n_users)
        self.src = rng.integers(0, self.n_users, size=self.n_events)
        noise = rng.integers(0, self.n_shops, size=self.n_events)
        pick = rng.random(self.n_events) < 0.75
        self.dst = np.where(pick, taste[self.src], noise) + self.n_users
        self.ts = np.cumsum(rng.exponential(1.0, size=self.n_events))

    def batches(self, size):
        for lo in range(0, self.n_events, size):
            part = slice(lo, lo + size)
            yield (torch.from_numpy(self.src[part]), torch.from_numpy(self.dst[part]),
                   torch.from_numpy(self.ts[part]).float())


class NodeMemory:
    """One vector per node plus the time of its last event."""

    def __init__(self, n_nodes, dim):
        self.dim = dim
        self.table = {n: torch.zeros(dim) for n in range(n_nodes)}
        self.seen = torch.zeros(n_nodes)

    def read(self, nodes):
        return torch.stack([self.table[n] for n in nodes.tolist()])

    def write(self, nodes, vectors, when):
        for n, vec, t in zip(nodes.tolist(), vectors, when.tolist()):
            self.table[n] = vec
            self.seen[n] = t


class EventModel(nn.Module):
    def __init__(self, n_nodes, dim=16):
        super().__init__()
        self.static = nn.Embedding(n_nodes, dim)
        self.clock = nn.Linear(1, dim)
        self.updater = nn.GRUCell(2 * dim, dim)
        self.score = nn.Sequential(nn.Linear(4 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def refresh(self, memory, nodes, partners, when):
        age = (when - memory.seen[nodes]).unsqueeze(1)
        message = torch.cat([memory.read(partners), torch.cos(self.clock(age))], dim=1)
        return self.updater(message, memory.read(nodes))

    def link(self, left, left_mem, right, right_mem):
        parts = [self.static(left), left_mem, self.static(right), right_mem]
        return self.score(torch.cat(parts, dim=1)).squeeze(1)


def train(epochs=2, batch_size=40):
    torch.manual_seed(5)
    stream = EventStream()
    n_nodes = stream.n_users + stream.n_shops
    model = EventModel(n_nodes)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    for epoch in range(epochs):
        memory = NodeMemory(n_nodes, 16)
        total, count = 0.0, 0
        for users, shops, when in stream.batches(batch_size):
            fresh_u = model.refresh(memory, users, shops, when)
            fresh_s = model.refresh(memory, shops, users, when)
            others = torch.randint(stream.n_users, n_nodes, shops.shape)

            pos = model.link(users, fresh_u, shops, fresh_s)
            neg = model.link(users, fresh_u, others, memory.read(others))
            loss = (F.binary_cross_entropy_with_logits(pos, torch.ones_like(pos))
                    + F.binary_cross_entropy_with_logits(neg, torch.zeros_like(neg)))

            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()

            memory.write(users, fresh_u, when)
            memory.write(shops, fresh_s, when)
            total, count = total + loss.item() * len(users), count + len(users)
        print(f"epoch {epoch}: {total / count:.4f}")


if __name__ == "__main__":
    train()
