"""Link prediction on a stream of payments between accounts (temporal graph network, small)."""
from typing import Dict, List, NamedTuple, Optional

import numpy as np
import torch
from torch import nn

N_ACCOUNTS = 12
MEM_DIM = 8
FEAT_DIM = 3


class Batch(NamedTuple):
    src: List[int]
    dst: List[int]
    neg: List[int]
    feat: torch.Tensor


class Memory:
    """One vector for each node that has been seen; zeros for the others."""

    def __init__(self, dim: int):
        self.dim = dim
        self.container: Dict[int, torch.Tensor] = {}

    def get(self, nodes: List[int]) -> torch.Tensor:
        blank = torch.zeros(self.dim)
        return torch.stack([self.container.get(n, blank) for n in nodes])

    def put(self, nodes: List[int], values: torch.Tensor) -> None:
        for node, value in zip(nodes, values):
            self.container[node] = value


class TGN(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = Memory(MEM_DIM)
        self.message_fn = nn.Sequential(nn.Linear(2 * MEM_DIM + FEAT_DIM, MEM_DIM), nn.ReLU())
        self.updater = nn.GRUCell(MEM_DIM, MEM_DIM)
        self.scorer = nn.Sequential(nn.Linear(2 * MEM_DIM, 16), nn.ReLU(), nn.Linear(16, 1))
        self.raw: Optional[Batch] = None  # events whose messages are still to be delivered

    def deliver_messages(self) -> None:
        if self.raw is None:
            return
        nodes = self.raw.src + self.raw.dst
        others = self.raw.dst + self.raw.src
        feat = torch.cat([self.raw.feat, self.raw.feat])
        own, other = self.memory.get(nodes), self.memory.get(others)
        messages = self.message_fn(torch.cat([own, other, feat], dim=1))
        updated = self.updater(messages, own)
        self.memory.put(nodes, updated)

    def forward(self, batch: Batch):
        self.deliver_messages()
        src, dst, neg = (self.memory.get(n) for n in (batch.src, batch.dst, batch.neg))
        self.raw = batch
        pos_score = self.scorer(torch.cat([src, dst], dim=1))
        neg_score = self.scorer(torch.cat([src, neg], dim=1))
        return pos_score, neg_score


def event_stream(n_batches=20, size=6, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        src = rng.choice(N_ACCOUNTS, size, replace=False)
        dst = (src + 1 + rng.integers(0, 2, size)) % N_ACCOUNTS
        neg = rng.integers(0, N_ACCOUNTS, size)
        feat = torch.tensor(rng.normal(size=(size, FEAT_DIM)), dtype=torch.float32)
        yield Batch(src.tolist(), dst.tolist(), neg.tolist(), feat)


def main():
    torch.manual_seed(0)
    model = TGN()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    bce = nn.BCEWithLogitsLoss()
    for step, batch in enumerate(event_stream()):
        opt.zero_grad()
        pos, neg = model(batch)
        loss = bce(pos, torch.ones_like(pos)) + bce(neg, torch.zeros_like(neg))
        loss.backward(retain_graph=True)
        opt.step()
        if step % 5 == 0:
            print(f"batch {step:2d}  loss {loss.item():.4f}  nodes {len(model.memory.container)}")


main()
