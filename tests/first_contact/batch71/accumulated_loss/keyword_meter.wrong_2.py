"""Keyword spotting on filterbank frames. Small card, so four micro-batches make one update."""
import torch
from torch import nn
import torch.nn.functional as F

N_MELS, FRAMES, WORDS = 16, 20, 6
MICRO, ACCUM = 8, 4


class Meter:
    """Collects a quantity; `mean()` gives its average."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def mean(self):
        return torch.stack(self.values).mean()

    def __str__(self):
        return f"{self.name} {self.mean().item():.4f}"


class Spotter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.rnn = nn.GRU(N_MELS, width, batch_first=True)
        self.attend = nn.Linear(width, 1)
        self.word = nn.Linear(width, WORDS)

    def forward(self, frames):
        out, _ = self.rnn(frames)
        w = torch.softmax(self.attend(out), dim=1)
        return self.word((w * out).sum(dim=1))


def corpus(n):
    g = torch.Generator().manual_seed(99)
    patterns = torch.randn(WORDS, FRAMES, N_MELS, generator=g)
    labels = torch.randint(WORDS, (n,), generator=g)
    frames = patterns[labels] + 0.8 * torch.randn(n, FRAMES, N_MELS, generator=g)
    return frames, labels


def micro_batches(frames, labels):
    order = torch.randperm(len(labels))
    for chunk in order.split(MICRO):
        yield frames[chunk], labels[chunk]


def run_epoch(model, opt, data, meters):
    for m in meters.values():
        m.reset()
    model.train()
    for i, (frames, labels) in enumerate(micro_batches(*data), start=1):
        logits = model(frames)
        loss = F.cross_entropy(logits, labels, label_smoothing=0.05)
        meters["loss"].update(loss)
        meters["acc"].update((logits.argmax(1) == labels).float().mean())

        if i % ACCUM == 0:
            opt.zero_grad()
            meters["loss"].mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            meters["loss"].values = [v.detach() for v in meters["loss"].values]


def main():
    torch.manual_seed(7)
    data = corpus(128)
    model = Spotter()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    meters = {"loss": Meter("loss"), "acc": Meter("acc")}
    for epoch in range(4):
        run_epoch(model, opt, data, meters)
        print(f"epoch {epoch} | {meters['acc']}")


main()
