# expect: pattern = stored-graph
# expect: also = recurrent-state
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = self.store, memory.store, model.memory.store, new, self.memory.store
"""Link prediction between accounts of a ledger (continuous-time graph with node memory)."""
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as bce

from events import Events
from tgn.model import LedgerTGN

SEED, EPOCHS, BATCH = 1234, 5, 20


def negatives(events, n, gen):
    return torch.randint(events.n_accounts, (n,), generator=gen)


def train_epoch(model, events, optimizer, gen):
    model.memory.reset()
    total = 0.0
    for src, dst, t, amount in events.batches(BATCH):
        neg = negatives(events, len(src), gen)
        pos_out, neg_out = model(src, dst, neg, t)
        loss = bce(pos_out, torch.ones_like(pos_out)) + bce(neg_out, torch.zeros_like(neg_out))
        optimizer.zero_grad()
        loss.backward()  # expect: place
        optimizer.step()
        model.memory.pending = (src, dst, t, amount)
        total += loss.item() * len(src)
    return total / len(events)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    gen = torch.Generator().manual_seed(SEED)
    events = Events(n_accounts=14, n_events=160)
    model = LedgerTGN(events.n_accounts, dim=12)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(EPOCHS):
        print(epoch, round(train_epoch(model, events, optimizer, gen), 4))
