"""Counting limpets in photographs of tide pools; the hard photographs are shown more often.

Per photograph a smoothed loss is kept; the sampler follows it. The learning rate falls when the
mean over a sliding window no longer does. The penalty on dense spots adds up over four crops,
then all of it goes backwards at once.
"""
from collections import deque
from statistics import fmean

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

SIDE = 16


class Pools(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.counts = torch.randint(0, 9, (n,), generator=gen)
        self.photos = 0.3 * torch.randn(n, 1, SIDE, SIDE, generator=gen)
        axis = torch.arange(SIDE)
        for photo, count in zip(self.photos, self.counts.tolist()):
            for _ in range(count):
                r, c = (torch.rand(2, generator=gen) * SIDE).tolist()
                photo[0] += torch.exp(-((axis[:, None] - r) ** 2 + (axis - c) ** 2) / 2.5)

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, i):
        return i, self.photos[i], self.counts[i].float()


class Density(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1),
                                 nn.ReLU(), nn.Conv2d(width, 1, 1), nn.Softplus())

    def forward(self, photo):
        return 0.025 * self.net(photo).squeeze(1)


class Difficulty:
    """Smoothed loss of each photograph."""

    def __init__(self, n, keep=0.7):
        self.keep = keep
        self.level = torch.ones(n)
        self.trail = []

    def note(self, rows, losses):
        self.level[rows] = self.keep * self.level[rows] + (1 - self.keep) * losses.detach()
        self.trail.append(self.level.mean())

    def sampler(self):
        return WeightedRandomSampler(0.2 + self.level / self.level.mean(), len(self.level))


def epoch(model, optimizer, data, difficulty, recent, peaks=1e-2):
    for rows, photos, counts in DataLoader(data, batch_size=40, sampler=difficulty.sampler()):
        density = model(photos)
        each = nn.functional.smooth_l1_loss(density.sum((1, 2)), counts, reduction="none")
        penalty = 0.0
        for corner in (density[:, :8, :8], density[:, :8, 8:], density[:, 8:, :8], density[:, 8:, 8:]):
            penalty = penalty + corner.square().mean()
        loss = each.mean() + peaks * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        difficulty.note(rows, each)
        recent.append(loss.item())


@torch.no_grad()
def off_by(model, data):
    return (model(data.photos).sum((1, 2)) - data.counts).abs().mean().item()


def main(epochs=10):
    torch.set_num_threads(1)
    torch.manual_seed(50)
    train, test = Pools(320, seed=50), Pools(100, seed=51)
    model, difficulty, recent = Density(), Difficulty(len(train)), deque(maxlen=16)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    before = float("inf")
    for n in range(1, epochs + 1):
        epoch(model, optimizer, train, difficulty, recent)
        if fmean(recent) > 0.98 * before:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        before = fmean(recent)
        if n % 2 == 0:
            print(f"epoch {n} recent {before:.3f} hardest {difficulty.level.max():.2f} off by {off_by(model, test):.3f}")
    print("first and last level", difficulty.trail[0].item(), difficulty.trail[-1].item())


if __name__ == "__main__":
    main()
