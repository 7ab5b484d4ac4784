"""Speaker embeddings trained with InfoNCE and a queue of negatives from the last batches."""
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class UtteranceEncoder(nn.Module):
    def __init__(self, n_mels=20, dim=16):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(n_mels, 32), nn.ReLU())
        self.proj = nn.Linear(64, dim)

    def forward(self, frames):
        h = self.frame(frames)
        stats = torch.cat([h.mean(dim=1), h.std(dim=1)], dim=-1)
        return F.normalize(self.proj(stats), dim=-1)


class NegativeBank:
    """First-in first-out store of the embeddings of earlier batches."""

    def __init__(self, n_batches=4):
        self.queue = deque(maxlen=n_batches)

    def __len__(self):
        return len(self.queue)

    def push(self, embeddings):
        self.queue.append(embeddings)

    def all(self):
        return torch.cat(list(self.queue), dim=0)


class QueueInfoNCE(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature

    def forward(self, anchors, positives, bank):
        logits = anchors @ positives.t()
        if len(bank) > 0:
            negatives = bank.all()
            logits = torch.cat([logits, anchors @ negatives.t()], dim=1)
        labels = torch.arange(anchors.size(0))
        return F.cross_entropy(logits / self.temperature, labels)


class SpeakerCorpus:
    def __init__(self, n_speakers=30, n_mels=20, n_frames=12):
        self.voices = torch.randn(n_speakers, n_mels)
        self.n_frames = n_frames

    def utterances(self, ids):
        base = self.voices[ids].unsqueeze(1)
        return base + 0.7 * torch.randn(len(ids), self.n_frames, base.size(-1))

    def batches(self, n_batches, size=8):
        for _ in range(n_batches):
            ids = torch.randperm(len(self.voices))[:size]
            yield self.utterances(ids), self.utterances(ids)


def train_epoch(encoder, criterion, bank, corpus, optimizer):
    total = 0.0
    for n, (view_a, view_b) in enumerate(corpus.batches(6), start=1):
        z_a = encoder(view_a)
        z_b = encoder(view_b)
        loss = criterion(z_a, z_b, bank)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.queue.clear()
        bank.push(z_a)
        total += loss.item()
    return total / n


@torch.no_grad()
def equal_pairs_score(encoder, corpus):
    ids = torch.arange(len(corpus.voices))
    a, b = encoder(corpus.utterances(ids)), encoder(corpus.utterances(ids))
    return ((a @ b.t()).argmax(dim=1) == ids).float().mean().item()


def main():
    torch.manual_seed(5)
    corpus = SpeakerCorpus()
    encoder = UtteranceEncoder()
    criterion = QueueInfoNCE()
    bank = NegativeBank()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    for epoch in range(3):
        loss = train_epoch(encoder, criterion, bank, corpus, optimizer)
        acc = equal_pairs_score(encoder, corpus)
        print(f"epoch {epoch} loss {loss:.4f} top-1 {acc:.2f}")


if __name__ == "__main__":
    main()
