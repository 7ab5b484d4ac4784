"""Matches smudged shoe marks from a scene with clean test impressions (two towers, InfoNCE)."""
import math

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


class MarkDataset(torch.utils.data.Dataset):
    """A sole is a sum of a few gratings; a mark shows a part of it, shifted and smeared."""

    def __init__(self, soles, side=16, seed=0):
        self.rng = np.random.default_rng(seed)
        y, x = np.mgrid[:side, :side] / side
        self.soles = []
        for _ in range(soles):
            kx, ky, phase = self.rng.uniform(2, 12, (3, 3))
            waves = [np.cos(a * x + b * y + c) for a, b, c in zip(kx, ky, phase)]
            self.soles.append(np.sum(waves, 0))

    def __len__(self):
        return len(self.soles)

    def mark(self, sole):
        moved = np.roll(sole, self.rng.integers(-1, 2, 2), (0, 1))
        smeared = 0.5 * moved + 0.5 * np.roll(moved, 1, 0)
        smeared[: self.rng.integers(1, 5)] = 0
        return smeared + self.rng.normal(0, 0.2, sole.shape)

    def __getitem__(self, i):
        clean = self.soles[i] + self.rng.normal(0, 0.05, self.soles[i].shape)
        pair = self.mark(self.soles[i]), clean
        return tuple(torch.tensor(image, dtype=torch.float32)[None] for image in pair)


class Tower(nn.Module):
    def __init__(self, out=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.GroupNorm(2, 8), nn.GELU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.GroupNorm(4, 16), nn.GELU(),
        )
        self.project = nn.Linear(16 * 16, out)

    def forward(self, image):
        z = self.project(self.features(image).flatten(1))
        z /= z.detach().norm(dim=-1, keepdim=True)
        return z


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.scene = Tower()
        self.reference = Tower()
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.1)))

    def forward(self, marks, clean):
        similarity = self.scene(marks) @ self.reference(clean).T
        return self.log_scale.exp().clamp(max=50) * similarity


def symmetric_nce(logits):
    truth = torch.arange(len(logits))
    return 0.5 * (F.cross_entropy(logits, truth) + F.cross_entropy(logits.T, truth))


@torch.no_grad()
def recall(model, data, k=5):
    model.eval()
    marks, clean = (torch.stack(side) for side in zip(*(data[i] for i in range(len(data)))))
    ranks = model(marks, clean).topk(k, dim=1).indices
    model.train()
    return (ranks == torch.arange(len(data))[:, None]).any(1).float().mean().item()


def main():
    torch.manual_seed(5)
    train, lab = MarkDataset(128, seed=5), MarkDataset(40, seed=6)
    loader = torch.utils.data.DataLoader(train, batch_size=32, shuffle=True, drop_last=True)
    model = Matcher()
    print(f"untrained recall@5 {recall(model, lab):.2f}")
    decay = [p for p in model.parameters() if p.ndim > 1]
    other = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 1e-2},
                                   {"params": other, "weight_decay": 0.0}], lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=6 * len(loader))
    for epoch in range(6):
        running = []
        for marks, clean in loader:
            loss = symmetric_nce(model(marks, clean))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            running.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(running):.3f} recall@5 {recall(model, lab):.2f} "
              f"scale {model.log_scale.exp().item():.1f}")


if __name__ == "__main__":
    main()
