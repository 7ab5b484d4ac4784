# expect: pattern = stored-graph
# expect: also = growing-history, undetached-target
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = book, self.book, ledger, ledger.book, self.ledger, self.ledger.book, losses, weights, each, before
"""Parchment or paper? Folio patches with hard folios weighted up by a ledger of past losses."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Folios(Dataset):
    """Textured 12x12 patches; parchment has follicle dots, paper has chain lines."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.label = torch.randint(2, (n,), generator=g)
        self.patch = 0.8 * torch.randn(n, 1, 12, 12, generator=g)
        lines = torch.zeros(12, 12)
        lines[:, ::4] = 1.0
        dots = torch.zeros(12, 12)
        dots[::3, ::3] = 1.6
        for i, kind in enumerate(self.label):
            self.patch[i, 0] += lines if kind else dots

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return f"fol_{i:03d}", self.patch[i], self.label[i]


class DifficultyLedger:
    """Smoothed loss of every folio, by its shelf mark."""

    def __init__(self, memory=0.6, power=0.5):
        self.book = {}
        self.memory = memory
        self.power = power

    def enter(self, marks, losses):
        for mark, each in zip(marks, losses):
            before = self.book.get(mark, each)
            self.book[mark] = self.memory * before + (1 - self.memory) * each  # expect: place

    def weights(self, marks):
        if not all(mark in self.book for mark in marks):
            return torch.ones(len(marks))
        hardness = torch.stack([self.book[mark] for mark in marks]) ** self.power  # expect: place
        return hardness / hardness.mean()

    def hardest(self, k=3):
        return sorted(self.book, key=lambda mark: -float(self.book[mark]))[:k]


class FolioTrainer:
    def __init__(self, net, lr=1e-2):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.ledger = DifficultyLedger()
        self.history = {"loss": [], "acc": []}

    def training_step(self, batch):
        marks, patch, label = batch
        losses = F.cross_entropy(self.net(patch), label, reduction="none")  # expect: place
        loss = (self.ledger.weights(marks) * losses).mean()  # expect: place
        self.ledger.enter(marks, losses)  # expect: place
        return loss

    def fit(self, loader, held, epochs):
        for epoch in range(epochs):
            running = 0.0
            for batch in loader:
                self.opt.zero_grad()
                loss = self.training_step(batch)
                loss.backward()  # expect: place
                self.opt.step()
                running += loss.item()
            self.history["loss"].append(running / len(loader))
            self.history["acc"].append(self.score(held))
            print(f"epoch {epoch}: {self.history['loss'][-1]:.4f} acc {self.history['acc'][-1]:.3f} "
                  f"hardest {', '.join(self.ledger.hardest())}")

    @torch.no_grad()
    def score(self, held):
        self.net.eval()
        right = sum((self.net(x).argmax(1) == y).sum().item() for _, x, y in held)
        self.net.train()
        return right / len(held.dataset)


def build():
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))


if __name__ == "__main__":
    torch.manual_seed(31)
    trainer = FolioTrainer(build())
    trainer.fit(DataLoader(Folios(160, 1), batch_size=20, shuffle=True), DataLoader(Folios(80, 2), batch_size=40), epochs=5)
