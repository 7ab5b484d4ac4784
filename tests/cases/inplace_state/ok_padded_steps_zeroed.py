# expect: pattern = none
# expect: raises = nothing
import torch
import torch.nn as nn


class MaskedGRU(nn.Module):
    def __init__(self, vocab, emb=8, hid=12, classes=2):
        super(MaskedGRU, self).__init__()
        self.hid = hid
        self.embed = nn.Embedding(vocab, emb, padding_idx=0)
        self.cell = nn.GRUCell(emb, hid)
        self.out = nn.Linear(hid, classes)

    def forward(self, tokens):
        b, t = tokens.shape
        h = torch.zeros(b, self.hid)
        for i in range(t):
            tok = tokens[:, i]
            h = self.cell(self.embed(tok), h)
            h[tok == 0] = 0.0
        return self.out(h)


def batches(n, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        x = torch.randint(1, 30, (6, 9), generator=g)
        lens = torch.randint(3, 10, (6,), generator=g)
        for row, l in zip(x, lens):
            row[l:] = 0
        yield x, (x.sum(1) % 2)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.crit = nn.CrossEntropyLoss()
        self.optim = torch.optim.Adam(model.parameters(), lr)

    def fit(self, epochs):
        for e in range(epochs):
            running = 0.0
            for x, y in batches(3, e):
                logits = self.model(x)
                loss = self.crit(logits, y)
                self.optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optim.step()
                running += loss.item()
            print("epoch", e, running / 3)


torch.manual_seed(1)
Trainer(MaskedGRU(30), 1e-3).fit(2)
