"""Modes of plainchant without labels: clusters of embeddings become the labels of the next epoch."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class ChantEncoder(nn.Module):
    def __init__(self, pitches=12, width=8):
        super().__init__()
        self.gru = nn.GRU(pitches, width, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, notes):
        _, last = self.gru(F.one_hot(notes, 12).float())
        return self.norm(last[0]).detach()


class KMeans:
    """Lloyd's rounds in NumPy."""

    def __init__(self, k, seed=0):
        self.k, self.rng = k, np.random.default_rng(seed)

    def assign(self, points):
        centres = points[self.rng.choice(len(points), self.k, replace=False)]
        for _ in range(10):
            away = ((points[:, None] - centres[None]) ** 2).sum(-1)
            label = away.argmin(1)
            for c in range(self.k):
                if (label == c).any():
                    centres[c] = points[label == c].mean(0)
        return label


class DeepCluster:
    def __init__(self, corpus, modes):
        self.corpus, self.modes = corpus, modes
        self.encoder = ChantEncoder()
        self.head = nn.Linear(8, modes)
        self.kmeans = KMeans(modes)
        self.opt = torch.optim.Adam([*self.encoder.parameters(), *self.head.parameters()], lr=0.01)

    def embed_corpus(self):
        self.encoder.eval()
        parts = [self.encoder(batch) for batch in self.corpus.split(20)]
        self.encoder.train()
        return torch.cat(parts)

    def relabel(self):
        embedded = self.embed_corpus()
        return torch.from_numpy(self.kmeans.assign(embedded.numpy()))

    def epoch(self):
        labels = self.relabel()
        self.head.reset_parameters()
        total = 0.0
        for rows in torch.randperm(len(self.corpus)).split(20):
            loss = F.cross_entropy(self.head(self.encoder(self.corpus[rows])), labels[rows])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(rows)
        return total / len(self.corpus), labels


def chants(count=80, length=10):
    final = torch.tensor([2, 4, 5, 7])[torch.arange(count) % 4]
    steps = torch.randint(-2, 3, (count, length)).cumsum(1)
    return (final[:, None] + steps.flip(1)) % 12


if __name__ == "__main__":
    torch.manual_seed(3)
    study = DeepCluster(chants(), modes=4)
    for number in range(4):
        mean, labels = study.epoch()
        print(number, round(mean, 4), torch.bincount(labels, minlength=4).tolist())
