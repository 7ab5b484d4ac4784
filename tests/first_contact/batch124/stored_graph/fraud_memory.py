# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.memory, memory, self.table, table, fresh, store, model.memory
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

N_ACCOUNTS, MEM, FEAT = 30, 8, 4


def payments(n, seed):
    g = torch.Generator().manual_seed(seed)
    src = torch.randint(0, N_ACCOUNTS, (n,), generator=g)
    dst = (src + torch.randint(1, N_ACCOUNTS, (n,), generator=g)) % N_ACCOUNTS
    feat = torch.randn(n, FEAT, generator=g)
    label = ((feat[:, 0] + (src % 5 == 0).float()) > 0.8).float()
    return src, dst, feat, label


class AccountMemory:
    """One vector per account, and the raw messages that wait to be written into it."""

    def __init__(self):
        self.table = {}
        self.pending = defaultdict(list)

    def lookup(self, nodes):
        return torch.stack([self.table.get(n, torch.zeros(MEM)) for n in nodes])

    def write(self, nodes, values):
        for n, v in zip(nodes, values):
            self.table[n] = v  # expect: place

    def post(self, nodes, messages):
        for n, m in zip(nodes, messages):
            self.pending[n].append(m)

    def collect(self, nodes):
        waiting = [n for n in nodes if self.pending[n]]
        if not waiting:
            return [], None
        latest = torch.stack([self.pending.pop(n)[-1] for n in waiting])
        return waiting, latest


class TemporalScorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = AccountMemory()
        self.message = nn.Linear(FEAT, MEM)
        self.updater = nn.GRUCell(MEM, MEM)
        self.scorer = nn.Sequential(nn.Linear(2 * MEM + FEAT, 16), nn.ReLU(), nn.Linear(16, 1))

    def refresh(self, nodes):
        waiting, raw = self.memory.collect(nodes)
        if waiting:
            fresh = self.updater(self.message(raw), self.memory.lookup(waiting))  # expect: place
            self.memory.write(waiting, fresh)  # expect: place

    def forward(self, src, dst, feat):
        s, d = src.tolist(), dst.tolist()
        self.refresh(sorted(set(s + d)))
        pair = torch.cat([self.memory.lookup(s), self.memory.lookup(d), feat], dim=1)  # expect: place
        logits = self.scorer(pair).squeeze(1)
        self.memory.post(s + d, list(feat) + list(feat))
        return logits


def train():
    torch.manual_seed(0)
    model = TemporalScorer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    src, dst, feat, label = payments(240, seed=11)
    for i in range(0, 240, 24):
        part = slice(i, i + 24)
        optimizer.zero_grad()
        logits = model(src[part], dst[part], feat[part])
        loss = F.binary_cross_entropy_with_logits(logits, label[part])
        loss.backward()  # expect: place
        optimizer.step()
        print(f"events {i:3d}: {loss.item():.3f}")


if __name__ == "__main__":
    train()
