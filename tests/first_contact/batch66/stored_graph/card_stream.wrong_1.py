# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pending, self.pending, msg, src_msg, dst_msg
"""Streaming fraud scores on card -> merchant payments, with a memory per party."""
from collections import defaultdict
from typing import NamedTuple

import torch
from torch import nn
import torch.nn.functional as F


class Payments(NamedTuple):
    card: torch.Tensor
    merchant: torch.Tensor
    amount: torch.Tensor
    hour: torch.Tensor
    fraud: torch.Tensor


def stream(n_batches, size, n_cards, n_merchants, seed=5):
    g = torch.Generator().manual_seed(seed)
    risky = torch.rand(n_merchants, generator=g) < 0.2
    for _ in range(n_batches):
        card = torch.randint(0, n_cards, (size,), generator=g)
        shop = torch.randint(0, n_merchants, (size,), generator=g)
        amount = torch.rand(size, generator=g) * 2
        hour = torch.rand(size, generator=g)
        p = 0.05 + 0.5 * (risky[shop] & (amount > 1.2)).float()
        fraud = (torch.rand(size, generator=g) < p).float()
        yield Payments(card, shop + n_cards, amount, hour, fraud)


class PartyMemory:
    """One vector per card and per merchant, and the messages that wait for the next batch."""

    def __init__(self, n_parties, dim):
        self.table = torch.zeros(n_parties, dim)
        self.pending = defaultdict(list)

    def read(self, ids):
        return self.table[ids]

    def write(self, ids, values):
        self.table[ids] = values.detach()

    def post(self, ids, messages):
        for i, m in zip(ids.tolist(), messages):
            self.pending[i].append(m)  # expect: place

    def collect(self, ids, width):
        rows = []
        for i in ids.tolist():
            box = self.pending.pop(i, None)
            rows.append(torch.stack(box).mean(0) if box else torch.zeros(width))  # expect: place
        return torch.stack(rows)


class StreamScorer(nn.Module):
    def __init__(self, n_parties, dim=16):
        super().__init__()
        self.msg_width = 2 * dim + 2
        self.updater = nn.GRUCell(self.msg_width, dim)
        self.embed = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
        self.score = nn.Sequential(nn.Linear(2 * dim + 2, 24), nn.ReLU(), nn.Linear(24, 1))
        self.memory = PartyMemory(n_parties, dim)

    def forward(self, tx):
        ids, where = torch.cat([tx.card, tx.merchant]).unique(return_inverse=True)
        # old messages first, otherwise the label leaks into its own score
        inbox = self.memory.collect(ids, self.msg_width)  # expect: place
        with torch.no_grad():
            state = self.updater(inbox, self.memory.read(ids))  # expect: place
        self.memory.write(ids, state)

        z = self.embed(state)[where]
        z_card, z_shop = z.chunk(2)
        feats = torch.stack([tx.amount, tx.hour], 1)
        logit = self.score(torch.cat([z_card, z_shop, feats], 1)).squeeze(1)

        src_msg = torch.cat([z_card, z_shop, feats], 1)  # expect: place
        dst_msg = torch.cat([z_shop, z_card, feats], 1)  # expect: place
        self.memory.post(tx.card, src_msg)  # expect: place
        self.memory.post(tx.merchant, dst_msg)  # expect: place
        return logit


def run(n_cards=40, n_merchants=12):
    torch.manual_seed(0)
    model = StreamScorer(n_cards + n_merchants)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    seen, hits = 0, 0.0
    for step, tx in enumerate(stream(25, 48, n_cards, n_merchants)):
        logit = model(tx)
        loss = F.binary_cross_entropy_with_logits(logit, tx.fraud, pos_weight=torch.tensor(4.0))
        opt.zero_grad(set_to_none=True)
        loss.backward()  # expect: place
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        seen += len(logit)
        hits += ((logit > 0).float() == tx.fraud).sum().item()
        if step % 8 == 7:
            print(f"batch {step + 1}: loss {loss.item():.3f}, accuracy so far {hits / seen:.3f}")


if __name__ == "__main__":
    run()
