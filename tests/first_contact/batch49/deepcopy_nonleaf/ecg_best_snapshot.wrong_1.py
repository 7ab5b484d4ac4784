


"""Heart-beat classification from single-lead ECG windows with multi-hop attention.

Trains with early stopping and hands back the best model seen on the validation patients.
"""
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)

CLASSES = 4          # normal, supraventricular, ventricular, fusion
WINDOW = 48


def synth_beats(n):
    """Caricature beats: an R peak plus a class dependent ST/T wave."""
    y = torch.randint(0, CLASSES, (n,))
    t = torch.linspace(0, 1, WINDOW)
    width = 0.02 + 0.02 * y.float().unsqueeze(1)
    peak = torch.exp(-((t - 0.35) ** 2) / (2 * width ** 2))
    twave = 0.4 * torch.sin(2 * math.pi * (t - 0.5) * (1 + y.float().unsqueeze(1))) * (t > 0.5)
    return (peak + twave + 0.15 * torch.randn(n, WINDOW)).unsqueeze(1), y


class HopAttention(nn.Module):
    """Several attention hops over time, pushed to look at different places."""

    def __init__(self, dim, hops):
        super().__init__()
        self.proj = nn.Linear(dim, 16)
        self.hops = nn.Linear(16, hops, bias=False)
        self.penalty = None

    def forward(self, seq):
        att = self.hops(torch.tanh(self.proj(seq))).softmax(dim=1).transpose(1, 2)
        if self.training:
            overlap = att @ att.transpose(1, 2) - torch.eye(att.size(1))
            self.penalty = overlap.pow(2).sum(dim=(1, 2)).mean().detach()
        return (att @ seq).flatten(1)


class BeatNet(nn.Module):
    def __init__(self, dim=24, hops=3):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv1d(1, 12, 5, padding=2), nn.GELU(),
            nn.Conv1d(12, dim, 5, stride=2, padding=2), nn.GELU(),
        )
        self.attention = HopAttention(dim, hops)
        self.classify = nn.Linear(dim * hops, CLASSES)

    def forward(self, x):
        return self.classify(self.attention(self.stem(x).transpose(1, 2)))


class BestKeeper:
    def __init__(self, patience=4):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0
        self.snapshot = None

    def update(self, score, model):
        if score < self.best:
            self.best, self.bad = score, 0
            self.snapshot = copy.deepcopy(model)
        else:
            self.bad += 1
        return self.bad >= self.patience


def run_epoch(model, optimizer, x, y, batch=32, weight=0.5):
    model.train()
    order = torch.randperm(len(x))
    running = 0.0
    for rows in order.split(batch):
        logits = model(x[rows])
        loss = F.cross_entropy(logits, y[rows]) + weight * model.attention.penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(rows)
    return running / len(x)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return F.cross_entropy(model(x), y).item()


def main():
    x_train, y_train = synth_beats(256)
    x_val, y_val = synth_beats(96)
    model = BeatNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    keeper = BestKeeper()
    for epoch in range(6):
        train_loss = run_epoch(model, optimizer, x_train, y_train)
        val_loss = evaluate(model, x_val, y_val)
        print(f"epoch {epoch}: train {train_loss:.3f}  val {val_loss:.3f}")
        if keeper.update(val_loss, model):
            break
    best = keeper.snapshot
    print("best validation loss", round(evaluate(best, x_val, y_val), 3))


if __name__ == "__main__":
    main()
