"""Session-based next-item recommendation with a GRU over session-parallel mini-batches."""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ITEMS = 60
BATCH = 16
HIDDEN = 32
EPOCHS = 2


class SessionDataset(object):
    """Clicks of many sessions in one long array, plus the offsets where each session starts."""

    def __init__(self, n_sessions, rng):
        lengths = rng.integers(3, 8, size=n_sessions)
        clicks = []
        for n in lengths:
            item = rng.integers(N_ITEMS)
            for _ in range(n):
                clicks.append(item)
                item = (item + rng.integers(1, 4)) % N_ITEMS
        self.items = np.array(clicks)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])

    @property
    def n_sessions(self):
        return len(self.offsets) - 1


class SessionParallelLoader(object):
    """Yields (input, target, mask); mask tells which lanes have just begun another session."""

    def __init__(self, dataset, batch_size):
        self.dataset = dataset
        self.batch_size = batch_size

    def __iter__(self):
        ds = self.dataset
        lanes = np.arange(self.batch_size)
        next_session = self.batch_size
        start = ds.offsets[lanes].copy()
        end = ds.offsets[lanes + 1].copy()
        fresh = []
        while True:
            shortest = (end - start).min()
            for k in range(shortest - 1):
                yield (torch.from_numpy(ds.items[start + k]),
                       torch.from_numpy(ds.items[start + k + 1]), fresh)
                fresh = []
            start = start + shortest - 1
            fresh = [i for i in range(self.batch_size) if end[i] - start[i] <= 1]
            for i in fresh:
                if next_session >= ds.n_sessions:
                    return
                start[i] = ds.offsets[next_session]
                end[i] = ds.offsets[next_session + 1]
                next_session += 1


class GRURec(nn.Module):
    def __init__(self, n_items, hidden_size, dropout=0.1):
        super(GRURec, self).__init__()
        self.hidden_size = hidden_size
        self.embed = nn.Embedding(n_items, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.drop = nn.Dropout(dropout)
        self.h2o = nn.Linear(hidden_size, n_items)

    def forward(self, items, hidden):
        out, hidden = self.gru(self.embed(items).unsqueeze(0), hidden)
        logits = self.h2o(self.drop(out.squeeze(0)))
        return logits, hidden

    def init_hidden(self, batch_size):
        return torch.zeros(1, batch_size, self.hidden_size)


def reset_hidden(hidden, fresh):
    """Lanes with a new session start again from zeros."""
    if len(fresh) == 0:
        return hidden
    keep = torch.ones(1, hidden.size(1), 1)
    keep[:, fresh] = 0
    return hidden * keep


def top1_loss(logits, targets):
    scores = logits[:, targets]
    diff = scores.diag().view(-1, 1).expand_as(scores) - scores
    return torch.mean(torch.sigmoid(-diff)) + 0.01 * torch.mean(scores ** 2)


def recall_at(logits, targets, k=10):
    return (logits.topk(k, dim=1).indices == targets.view(-1, 1)).any(dim=1).float().mean().item()


def run_epoch(model, loader, optimizer):
    model.train()
    losses = []
    hidden = model.init_hidden(loader.batch_size)
    for items, targets, fresh in loader:
        optimizer.zero_grad()
        hidden = reset_hidden(hidden.detach(), fresh)
        logits, hidden = model(items, hidden)
        loss = F.cross_entropy(logits, targets) + top1_loss(logits, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.mean(losses)


def evaluate(model, loader):
    model.eval()
    recalls = []
    hidden = model.init_hidden(loader.batch_size)
    with torch.no_grad():
        for items, targets, fresh in loader:
            hidden = reset_hidden(hidden, fresh)
            logits, hidden = model(items, hidden)
            recalls.append(recall_at(logits, targets))
    return np.mean(recalls)


def main():
    torch.manual_seed(22)
    rng = np.random.default_rng(22)
    train = SessionParallelLoader(SessionDataset(120, rng), BATCH)
    test = SessionParallelLoader(SessionDataset(60, rng), BATCH)
    model = GRURec(N_ITEMS, HIDDEN)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        tic = time.time()
        loss = run_epoch(model, train, optimizer)
        print('epoch: {}\tloss: {:.4f}\trecall@10: {:.4f}\ttime: {:.1f}s'.format(
            epoch, loss, evaluate(model, test), time.time() - tic))


if __name__ == '__main__':
    main()
