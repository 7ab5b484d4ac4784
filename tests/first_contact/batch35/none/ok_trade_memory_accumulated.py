# expect: pattern = none
"""Trades between ports as a stream of events. Every port has a memory vector that lives on from batch to batch;
weights move every second batch."""
import numpy as np
import torch
from torch import nn


class PortMemory(nn.Module):
    def __init__(self, ports, dim):
        super().__init__()
        self.register_buffer("state", torch.zeros(ports, dim))
        self.cell = nn.GRUCell(2 * dim + 2, dim)
        self.pending = None

    def current(self):
        """Memory with the last batch's trades worked in, with a graph."""
        if self.pending is None:
            return self.state
        a, b, feat = self.pending
        nodes = torch.cat([a, b])
        message = torch.cat([self.state[nodes], self.state[torch.cat([b, a])], feat.repeat(2, 1)], 1)
        return self.state.index_copy(0, nodes, self.cell(message, self.state[nodes]))

    def commit(self, memory, a, b, feat):
        self.state = memory.detach()
        self.pending = (a, b, feat)

    def reset(self):
        self.state = torch.zeros_like(self.state)
        self.pending = None


def stream(rng, n, ports):
    for _ in range(n):
        order = rng.permutation(ports)
        a, b = torch.from_numpy(order[:6]), torch.from_numpy(order[6:12])
        feat = torch.from_numpy(rng.randn(6, 2).astype("float32"))
        volume = 0.3 * feat[:, 0] + 0.1 * ((a % 3) == (b % 3)).float()
        yield a, b, feat, volume


torch.manual_seed(40)
rng = np.random.RandomState(40)
ports = 15
memory = PortMemory(ports, 8)
decode = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam([*memory.parameters(), *decode.parameters()], lr=3e-3)
history = []

for epoch in range(3):
    memory.reset()
    running = 0.0
    optimizer.zero_grad()
    for i, (a, b, feat, volume) in enumerate(stream(rng, 10, ports)):
        now = memory.current()
        guess = decode(torch.cat([now[a], now[b]], 1)).squeeze(1)
        loss = (guess - volume).pow(2).mean()
        (loss / 2).backward()
        memory.commit(now, a, b, feat)
        running += float(loss)
        if i % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
    history.append(running / 10)
print(["%.4f" % h for h in history])
