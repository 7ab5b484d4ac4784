"""Sequence-to-sequence reversal with additive attention and teacher forcing."""
import random

import torch
import torch.nn as nn

PAD, BOS = 0, 1


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d, bias=False), nn.Linear(d, d), nn.Linear(d, 1, bias=False)

    def forward(self, query, memory, padding):
        energy = self.v(torch.tanh(self.q(query)[:, None] + self.k(memory))).squeeze(-1)
        weights = energy.softmax(-1)
        weights.masked_fill(padding, 0.0)
        return (weights[..., None] * memory).sum(1), weights


class Seq2Seq(nn.Module):
    def __init__(self, vocab, d=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=PAD)
        self.encoder = nn.GRU(d, d, batch_first=True)
        self.cell = nn.GRUCell(2 * d, d)
        self.attend = Attention(d)
        self.project = nn.Linear(2 * d, vocab)

    def forward(self, src, tgt, forcing=1.0):
        memory, h = self.encoder(self.embed(src))
        h, padding = h[0], src.eq(PAD)
        token = torch.full((len(src),), BOS)
        logits = []
        for t in range(tgt.size(1)):
            context, _ = self.attend(h, memory, padding)
            h = self.cell(torch.cat([self.embed(token), context], -1), h)
            logits.append(self.project(torch.cat([h, context], -1)))
            token = tgt[:, t] if random.random() < forcing else logits[-1].argmax(-1)
        return torch.stack(logits, 1)


def batch(n, vocab, longest=7):
    src = torch.zeros(n, longest, dtype=torch.long)
    tgt = torch.zeros(n, longest, dtype=torch.long)
    for i in range(n):
        k = random.randint(3, longest)
        s = torch.randint(2, vocab, (k,))
        src[i, :k], tgt[i, :k] = s, s.flip(0)
    return src, tgt


def main():
    random.seed(1)
    torch.manual_seed(1)
    model = Seq2Seq(vocab=9)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(6):
        src, tgt = batch(12, 9)
        out = model(src, tgt, forcing=0.8)
        loss = criterion(out.flatten(0, 1), tgt.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        print("step", step, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
