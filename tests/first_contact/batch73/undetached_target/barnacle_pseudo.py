# expect: pattern = undetached-target
# expect: also = forward-outside-loop
# expect: raises = RuntimeError: Trying to backward through the graph a second time
# expect: carrier = pseudo, self.pseudo, targets
"""Barnacle cover of ship hulls: a few labelled patches, many unlabelled ones with pseudo labels."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    epochs: int = 3
    batch_size: int = 16
    unlabelled_weight: float = 0.5
    sharpen: float = 0.5
    lr: float = 5e-3


class HullPatches(Dataset):
    def __init__(self, n, seed, labelled):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=gen)
        speckle = torch.rand(n, 1, 8, 8, generator=gen)
        self.x = (speckle < 0.2 + 0.25 * self.y.view(-1, 1, 1, 1)).float()
        self.labelled = labelled

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return (self.x[i], self.y[i]) if self.labelled else (self.x[i], i)


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AvgPool2d(3), nn.Flatten())
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.drop(self.features(x)))


class SemiSupervisedTrainer:
    def __init__(self, net, labelled, unlabelled, cfg):
        self.net, self.cfg = net, cfg
        self.labelled, self.unlabelled = labelled, unlabelled
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=cfg.lr)

    def relabel(self):
        """Soft labels of the whole unlabelled set, sharpened."""
        self.net.eval()
        probs = [self.net(x).softmax(1) for x, _ in DataLoader(self.unlabelled, 64)]  # expect: place
        probs = torch.cat(probs) ** (1 / self.cfg.sharpen)
        self.pseudo = probs / probs.sum(1, keepdim=True)  # expect: place
        self.net.train()

    def train_epoch(self):
        known = DataLoader(self.labelled, self.cfg.batch_size, shuffle=True)
        unknown = DataLoader(self.unlabelled, self.cfg.batch_size, shuffle=True)
        for (x, y), (u, idx) in zip(known, unknown):
            targets = self.pseudo[idx]  # expect: place
            supervised = F.cross_entropy(self.net(x), y)
            consistency = F.cross_entropy(self.net(u), targets)
            loss = supervised + self.cfg.unlabelled_weight * consistency
            self.optimizer.zero_grad()
            loss.backward()  # expect: place
            self.optimizer.step()
        return loss.item()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.relabel()  # expect: place
            print(f"epoch {epoch}: loss {self.train_epoch():.4f}")


torch.manual_seed(12)
SemiSupervisedTrainer(PatchNet(), HullPatches(48, 1, True), HullPatches(96, 2, False), Config()).fit()
