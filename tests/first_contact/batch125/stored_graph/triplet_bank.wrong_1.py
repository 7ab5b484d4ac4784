"""Siamese encoder for signatures; negatives come from a bank of recent embeddings."""
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(0)

N_WRITERS, PER_WRITER, DIM = 20, 12, 48
styles = rng.normal(size=(N_WRITERS, DIM))
samples = styles[:, None, :] + 0.6 * rng.normal(size=(N_WRITERS, PER_WRITER, DIM))
samples = torch.tensor(samples, dtype=torch.float32)


class SignatureEncoder(nn.Module):
    def __init__(self, dim, out):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, out))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)


class EmbeddingBank:
    """The last few batches of embeddings, with the writer that each of them belongs to."""

    def __init__(self, size):
        self.embeddings = deque(maxlen=size)
        self.writers = deque(maxlen=size)

    def push(self, batch, writers):
        self.embeddings.append(batch)
        self.writers.append(writers)

    def hardest(self, anchor, writers):
        everything = torch.cat(list(self.embeddings))
        owners = torch.cat(list(self.writers))
        distance = torch.cdist(anchor, everything)
        distance = distance.masked_fill(owners[None, :] == writers[:, None], float("inf"))
        return distance.min(dim=1).values

    def __len__(self):
        return len(self.embeddings)


def draw(batch_size=10):
    writers = torch.tensor(rng.choice(N_WRITERS, batch_size, replace=False))
    picks = torch.tensor(np.stack([rng.choice(PER_WRITER, 2, replace=False) for _ in range(batch_size)]))
    return samples[writers, picks[:, 0]], samples[writers, picks[:, 1]], writers


encoder = SignatureEncoder(DIM, 16)
bank = EmbeddingBank(size=6)
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
margin = 0.4

for step in range(40):
    first, second, writers = draw()
    anchor, positive = encoder(first), encoder(second)
    bank.push(positive, writers)

    d_pos = (anchor - positive).pow(2).sum(-1).add(1e-9).sqrt()
    d_neg = bank.hardest(anchor, writers)
    loss = F.relu(d_pos - d_neg + margin).mean()

    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if step % 10 == 0:
        print(step, len(bank), round(loss.item(), 4))
