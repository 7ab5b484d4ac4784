import torch
from torch import nn

from tgn.memory import NodeMemory


class TimeEncoding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.freq = nn.Parameter(torch.logspace(0, -2, dim))

    def forward(self, dt):
        return torch.cos(dt[:, None] * self.freq)


class LedgerTGN(nn.Module):
    def __init__(self, n_accounts, dim):
        super().__init__()
        self.memory = NodeMemory(dim)
        self.account = nn.Embedding(n_accounts, dim)
        self.time = TimeEncoding(4)
        self.update = nn.GRUCell(2 * dim + 5, dim)
        self.mix = nn.Linear(2 * dim + 4, dim)
        self.score = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def catch_up(self):
        """what the last batch paid goes into the memory of both sides"""
        if self.memory.pending is None:
            return
        src, dst, t, amount = self.memory.pending
        for me, other in ((src, dst), (dst, src)):
            new = self.update(self.message(me, other, t, amount), self.memory.get(me))  # expect: place
            self.memory.put(me, new, t)  # expect: place
        self.memory.pending = None

    def embed(self, nodes, t):
        dt = self.time(self.memory.elapsed(nodes, t))
        return torch.tanh(self.mix(torch.cat([self.memory.get(nodes), self.account(nodes), dt], 1)))

    def forward(self, src, dst, neg, t):
        self.catch_up()
        s, d, n = self.embed(src, t), self.embed(dst, t), self.embed(neg, t)
        return self.score(torch.cat([s, d], 1)).squeeze(1), self.score(torch.cat([s, n], 1)).squeeze(1)

    def message(self, me, other, t, amount):
        dt = self.time(self.memory.elapsed(me, t))
        return torch.cat([self.memory.get(other), self.account(other), dt, amount[:, None]], 1)
