# Card fraud scoring on a transaction stream. Every account owns a memory vector,
# rewritten each time the account pays; the score of a payment uses the memory of
# the account after the payment has been read.
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F

CONF = dict(accounts=30, batch=12, n_batches=40, feat=5, mem=10, lr=0.01, seed=21)


def stream(conf):
    """Fake stream: some accounts turn bad half way, with larger amounts."""
    g = torch.Generator().manual_seed(conf["seed"])
    bad = set(range(0, conf["accounts"], 5))
    for step in range(conf["n_batches"]):
        ids = torch.randperm(conf["accounts"], generator=g)[: conf["batch"]].tolist()
        x = torch.randn(len(ids), conf["feat"], generator=g)
        y = torch.tensor([1.0 if i in bad else 0.0 for i in ids])
        x[:, 0] += 1.5 * y
        x[:, 1] -= 0.7 * y
        yield ids, x, y


class AccountMemory:
    """id -> vector; unseen accounts start from zeros."""

    def __init__(self, width):
        self.width = width
        self.bank = {}
        self.hits = collections.Counter()

    def read(self, ids):
        rows = [self.bank.get(i, torch.zeros(self.width)) for i in ids]
        return torch.stack(rows)

    def write(self, ids, rows):
        for i, r in zip(ids, rows):
            self.bank[i] = r.detach()
            self.hits[i] += 1


class FraudScorer(nn.Module):
    def __init__(self, conf):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(conf["feat"], 16), nn.Tanh())
        self.update = nn.GRUCell(16, conf["mem"])
        self.risk = nn.Linear(conf["mem"] + conf["feat"], 1)
        self.memory = AccountMemory(conf["mem"])

    def forward(self, ids, x):
        past = self.memory.read(ids)
        fresh = self.update(self.message(x), past)
        self.memory.write(ids, fresh)
        return self.risk(torch.cat([fresh, x], dim=1)).squeeze(1)


class Monitor:
    def __init__(self, every):
        self.every, self.buf = every, []

    def push(self, step, loss, logits, y):
        self.buf.append((float(loss), ((logits > 0).float() == y).float().mean().item()))
        if (step + 1) % self.every == 0:
            l, a = (sum(c) / len(c) for c in zip(*self.buf))
            print("batch %3d  loss %.4f  acc %.3f" % (step + 1, l, a))
            self.buf = []


def run(conf):
    torch.manual_seed(conf["seed"])
    scorer = FraudScorer(conf)
    opt = torch.optim.Adam(scorer.parameters(), lr=conf["lr"])
    mon = Monitor(10)
    for step, (ids, x, y) in enumerate(stream(conf)):
        logits = scorer(ids, x)
        loss = F.binary_cross_entropy_with_logits(logits, y, pos_weight=torch.tensor(2.0))
        opt.zero_grad()
        loss.backward()
        opt.step()
        mon.push(step, loss, logits, y)
    busiest = scorer.memory.hits.most_common(3)
    print("busiest accounts:", busiest)


run(CONF)
