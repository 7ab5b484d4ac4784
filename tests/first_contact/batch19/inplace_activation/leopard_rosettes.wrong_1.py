"""Re-identify snow leopards from the rosettes on their flank (angular margin, small crops)."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    animals: int = 9
    photos_each: int = 14
    emb_dim: int = 24
    scale: float = 16.0
    margin: float = 0.25
    epochs: int = 3
    batch_size: int = 21
    lr: float = 3e-3
    seed: int = 41


class FlankNet(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.BatchNorm2d(12), nn.PReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.PReLU(),
        )
        self.fc = nn.Linear(24 * 4 * 4, emb_dim)

    def forward(self, x):
        x = self.body(x)
        return F.normalize(self.fc(x.flatten(1)))


class AngularMargin(nn.Module):
    """cos(theta + m) for the right animal, cos(theta) for the others."""

    def __init__(self, emb_dim, animals, scale, margin):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(animals, emb_dim))
        nn.init.xavier_normal_(self.weight)
        self.scale, self.margin = scale, margin

    def forward(self, emb, label):
        cosine = F.linear(emb, F.normalize(self.weight))
        theta = torch.acos(cosine.detach().clamp(-0.999, 0.999))
        rows = torch.arange(len(label))
        cosine[rows, label] = torch.cos(theta[rows, label] + self.margin)
        return self.scale * cosine


def make_photos(cfg):
    pattern = torch.randn(cfg.animals, 1, 16, 16)
    label = torch.arange(cfg.animals).repeat_interleave(cfg.photos_each)
    photos = pattern[label] + 0.7 * torch.randn(len(label), 1, 16, 16)
    return TensorDataset(photos, label)


def main(cfg):
    torch.manual_seed(cfg.seed)
    loader = DataLoader(make_photos(cfg), batch_size=cfg.batch_size, shuffle=True)
    net = FlankNet(cfg.emb_dim)
    margin = AngularMargin(cfg.emb_dim, cfg.animals, cfg.scale, cfg.margin)
    optimizer = torch.optim.SGD(
        [{"params": net.parameters()}, {"params": margin.parameters(), "weight_decay": 5e-4}],
        lr=cfg.lr, momentum=0.9,
    )
    for epoch in range(cfg.epochs):
        hits, seen, running = 0, 0, 0.0
        for photos, label in loader:
            logits = margin(net(photos), label)
            loss = F.cross_entropy(logits, label)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            running += loss.item() * len(label)
            hits += (logits.argmax(1) == label).sum().item()
            seen += len(label)
        print(f"epoch {epoch}: loss {running / seen:.3f}, right {hits / seen:.2f}")


if __name__ == "__main__":
    main(Config())
