"""Verdigris on bronze statues, segmented from small tiles; hard tiles are drawn more often."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler


class Tiles(Dataset):
    def __init__(self, n, seed, size=16):
        rng = np.random.RandomState(seed)
        yy, xx = np.mgrid[:size, :size]
        self.x = np.zeros((n, 3, size, size), np.float32)
        self.y = np.zeros((n, 1, size, size), np.float32)
        for i in range(n):
            for _ in range(rng.randint(1, 4)):
                cy, cx, r = rng.uniform(0, size, 2).tolist() + [rng.uniform(2, 5)]
                self.y[i, 0][(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = 1.0
            metal = rng.uniform(0.2, 0.6, (3, 1, 1))
            tint = np.array([0.25, 0.3, -0.05]).reshape(3, 1, 1) * rng.uniform(0.4, 1.0)
            self.x[i] = metal + tint * self.y[i] + rng.normal(0, 0.08, (3, size, size))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i], i


class SmallUNet(nn.Module):
    def __init__(self, c=8):
        super(SmallUNet, self).__init__()
        self.down = nn.Sequential(nn.Conv2d(3, c, 3, padding=1), nn.ReLU(inplace=True))
        self.deep = nn.Sequential(nn.Conv2d(c, 2 * c, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.up = nn.ConvTranspose2d(2 * c, c, 2, stride=2)
        self.last = nn.Conv2d(2 * c, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.up(self.deep(a))
        return self.last(torch.cat([a, b], dim=1))


def dice_bce(logits, y):
    p = torch.sigmoid(logits)
    overlap = 2 * (p * y).sum((1, 2, 3)) + 1
    dice = 1 - overlap / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
    bce = F.binary_cross_entropy_with_logits(logits, y, reduction="none").mean((1, 2, 3))
    return dice + bce


def difficulty(net, data):
    """A weight for every tile; those that the net has learnt keep a tenth."""
    net.eval()
    torch.set_grad_enabled(False)
    scores = torch.zeros(len(data))
    for x, y, i in DataLoader(data, batch_size=64):
        scores[i] = dice_bce(net(x), y)
    net.train()
    if scores.max() - scores.min() < 1e-4:
        return torch.ones(len(data))
    return 0.1 + (scores - scores.min()) / (scores.max() - scores.min())


def evaluate(net, data):
    net.eval()
    hit = total = 0.0
    with torch.no_grad():
        for x, y, _ in DataLoader(data, batch_size=64):
            p = (net(x) > 0).float()
            hit += (p * y).sum().item()
            total += ((p + y) > 0).float().sum().item()
    net.train()
    return hit / max(total, 1.0)


torch.manual_seed(19)
train, held = Tiles(96, seed=1), Tiles(48, seed=2)
net = SmallUNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, nesterov=True)
weights = torch.ones(len(train))
warmup = 2
for epoch in range(5):
    if epoch >= warmup:
        weights = difficulty(net, train)
    sampler = WeightedRandomSampler(weights, num_samples=len(train))
    running = []
    for x, y, _ in DataLoader(train, batch_size=16, sampler=sampler):
        loss = dice_bce(net(x), y).mean()
        optimizer.zero_grad()
        if loss.requires_grad:
            loss.backward()
            optimizer.step()
        running.append(loss.item())
    print("epoch %d  loss %.3f  IoU %.3f" % (epoch, np.mean(running), evaluate(net, held)))
