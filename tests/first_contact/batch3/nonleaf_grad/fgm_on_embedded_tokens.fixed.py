"""Text classifier with adversarial training in the embedding space (fast gradient method)."""
import contextlib

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocab=50, d=12, classes=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d)
        self.rnn = nn.LSTM(d, 16, batch_first=True)
        self.out = nn.Linear(16, classes)
        self.noise = None
        self.embedded = None

    def forward(self, ids):
        self.embedded = self.embedding(ids)
        if self.embedded.requires_grad:
            self.embedded.retain_grad()
        x = self.embedded if self.noise is None else self.embedded + self.noise
        _, (h, _) = self.rnn(x)
        return self.out(h[-1])


class FGM:
    def __init__(self, model, epsilon=0.5):
        self.model, self.epsilon = model, epsilon

    @contextlib.contextmanager
    def attack(self):
        g = self.model.embedded.grad
        norm = g.flatten(1).norm(dim=1)[:, None, None]
        self.model.noise = self.epsilon * g / (norm + 1e-8)
        try:
            yield
        finally:
            self.model.noise = None


def corpus(n, length=6):
    ids = torch.randint(0, 50, (n, length))
    return ids, (ids.lt(25).sum(1) > length // 2).long()


def train(steps=6):
    torch.manual_seed(37)
    model = Classifier()
    fgm = FGM(model)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(steps):
        ids, y = corpus(24)
        optimizer.zero_grad()
        clean = criterion(model(ids), y)
        clean.backward()
        with fgm.attack():
            hard = criterion(model(ids), y)
            hard.backward()
        optimizer.step()
        print(step, f"clean {clean.item():.4f} adversarial {hard.item():.4f}")


if __name__ == "__main__":
    train()
