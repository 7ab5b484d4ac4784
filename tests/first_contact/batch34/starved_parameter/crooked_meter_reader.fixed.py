"""Reads tilted digits of a water meter: a small spatial transformer straightens the crop first.
The straightened crops look exactly like the inputs even after long training - why?"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class MeterCrops(Dataset):
    GLYPHS = ["111101101101111", "010010010010010", "111001111100111", "111001111001111"]

    def __init__(self, n=160, size=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, len(self.GLYPHS), (n,), generator=g)
        angle = (torch.rand(n, generator=g) - 0.5) * math.pi / 2
        glyphs = torch.tensor([[int(c) for c in s] for s in self.GLYPHS], dtype=torch.float).view(-1, 1, 5, 3)
        upright = F.pad(F.interpolate(glyphs[self.labels], size=(10, 6)), (5, 5, 3, 3))
        rot = torch.zeros(n, 2, 3)
        rot[:, 0, 0], rot[:, 0, 1] = angle.cos(), -angle.sin()
        rot[:, 1, 0], rot[:, 1, 1] = angle.sin(), angle.cos()
        grid = F.affine_grid(rot, upright.shape, align_corners=False)
        self.images = F.grid_sample(upright, grid, align_corners=False)
        self.images += 0.05 * torch.randn(self.images.shape, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class Straightener(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(True),
            nn.Conv2d(6, 8, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(True),
        )
        self.loc_fc = nn.Sequential(nn.Linear(8 * 4 * 4, 16), nn.ReLU(True), nn.Linear(16, 6))
        # start from the identity
        self.loc_fc[2].weight.data.zero_()
        self.loc_fc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        xs = self.localization(x).flatten(1)
        theta = self.loc_fc(xs).view(-1, 2, 3)
        # sampling positions only, nothing to learn in there
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


class Reader(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.stn = Straightener()
        self.conv = nn.Sequential(nn.Conv2d(1, 10, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(10, 16, 3), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(16 * 4 * 4, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, x):
        return self.head(self.conv(self.stn(x)))


def train(epochs=3):
    torch.manual_seed(2)
    loader = DataLoader(MeterCrops(), batch_size=32, shuffle=True)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(epochs):
        correct, total_loss = 0, 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            logits = model(images)
            loss = F.cross_entropy(logits, labels)
            loss.backward()
            optimizer.step()
            total_loss += loss.item()
            correct += (logits.argmax(1) == labels).sum().item()
        moved = (model.stn.loc_fc[2].bias - torch.tensor([1.0, 0, 0, 0, 1, 0])).abs().max().item()
        print(f"epoch {epoch}  loss {total_loss / len(loader):.3f}  acc {correct / 160:.2f}  theta moved {moved:.4f}")


train()
