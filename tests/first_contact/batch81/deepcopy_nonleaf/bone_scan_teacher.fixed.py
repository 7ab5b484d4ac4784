"""Bone scans with few labels: a mean teacher, and a penalty on attention that is spread too thin."""
import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Options:
    decay: float = 0.95
    consistency: float = 1.0
    spread: float = 0.05
    lr: float = 3e-3
    steps: int = 20


class RegionPool(nn.Module):
    """Attention over the regions of the scan; keeps its last map for the penalty and for plots."""

    def __init__(self, width):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.look = None

    def forward(self, regions):
        self.look = self.score(regions).squeeze(-1).softmax(-1)
        return (self.look.unsqueeze(-1) * regions).sum(1)


class ScanNet(nn.Module):
    def __init__(self, n_in=10, width=16, classes=3):
        super().__init__()
        self.embed = nn.Linear(n_in, width)
        self.pool = RegionPool(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.pool(F.relu(self.embed(x))))

    def spread(self):
        look = self.pool.look.clamp_min(1e-8)
        return -(look * look.log()).sum(-1).mean()


class ModelEMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.lerp_(p, 1 - self.decay)


def scans(n, generator):
    label = torch.randint(3, (n,), generator=generator)
    x = torch.randn(n, 12, 10, generator=generator)
    hot = torch.randint(12, (n,), generator=generator)
    x[torch.arange(n), hot, label] += 3
    return x, label


def sanity_check(model, x):
    """One batch through the model before the training starts, to see that the shapes agree."""
    with torch.no_grad():
        logits = model(x)
    assert logits.shape == (len(x), 3), logits.shape
    print("first predictions", logits[0].tolist())


def fit(options):
    generator = torch.Generator().manual_seed(17)
    x, y = scans(24, generator)
    unlabelled, _ = scans(96, generator)
    model = ScanNet()
    sanity_check(model, x[:4])
    teacher = ModelEMA(model, options.decay)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    for step in range(options.steps):
        loss = F.cross_entropy(model(x), y) + options.spread * model.spread()
        noisy = unlabelled + 0.3 * torch.randn(unlabelled.shape, generator=generator)
        with torch.no_grad():
            soft = teacher.module(unlabelled).softmax(-1)
        loss = loss + options.consistency * F.mse_loss(model(noisy).softmax(-1), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        teacher.update(model)
        if step % 5 == 4:
            print(f"step {step + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    fit(Options())
