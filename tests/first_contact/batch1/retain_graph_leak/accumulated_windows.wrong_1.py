"""Language-model toy: gradients of all windows of a document are added, one step for each document."""
import random

import torch
import torch.nn as nn


class Config:
    vocab = 10
    dim = 12
    window = 5
    windows = 6
    docs = 4
    lr = 0.02
    seed = 7


class WordModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.rnn = nn.GRU(cfg.dim, cfg.dim, batch_first=True)
        self.dec = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, tokens, hidden=None):
        out, hidden = self.rnn(self.emb(tokens), hidden)
        return self.dec(out), hidden


def document(cfg, rng):
    start, stride = rng.randrange(cfg.vocab), rng.choice([1, 2, 3])
    n = cfg.window * cfg.windows + 1
    return torch.tensor([[(start + stride * i + (rng.random() < 0.1)) % cfg.vocab for i in range(n)]])


def train_document(model, optimizer, doc, cfg):
    criterion = nn.CrossEntropyLoss()
    hidden = None
    optimizer.zero_grad()
    total = 0.0
    for w in range(cfg.windows):
        lo = w * cfg.window
        hidden = None
        logits, hidden = model(doc[:, lo:lo + cfg.window], hidden)
        loss = criterion(logits[0], doc[0, lo + 1:lo + 1 + cfg.window]) / cfg.windows
        # without retain_graph: "Trying to backward through the graph a second time"
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    return total


if __name__ == "__main__":
    rng = random.Random(Config.seed)
    torch.manual_seed(Config.seed)
    model = WordModel(Config)
    optimizer = torch.optim.Adam(model.parameters(), lr=Config.lr)
    for i in range(Config.docs):
        print("document %d: loss %.4f" % (i, train_document(model, optimizer, document(Config, rng), Config)))
