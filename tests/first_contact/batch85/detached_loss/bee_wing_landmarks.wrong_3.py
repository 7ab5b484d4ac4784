"""Landmarks where the veins of a bee's forewing cross, from small greyscale scans."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LANDMARKS = 3


class WingScans(torch.utils.data.Dataset):
    """Wings drawn as three blobs of unlike size at places that vary from bee to bee."""

    def __init__(self, n, size, seed):
        gen = torch.Generator().manual_seed(seed)
        self.points = torch.rand(n, LANDMARKS, 2, generator=gen) * (size - 7) + 3
        grid = torch.arange(size).float()
        dx = grid[None, None, None, :] - self.points[..., 0, None, None]
        dy = grid[None, None, :, None] - self.points[..., 1, None, None]
        widths = torch.tensor([1.0, 1.8, 2.6])[None, :, None, None]
        blobs = torch.exp(-(dx**2 + dy**2) / (2 * widths**2))
        self.images = blobs.sum(1, keepdim=True) + 0.05 * torch.randn(n, 1, size, size, generator=gen)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.points[i]


class HeatmapNet(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 5, padding=2), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(width, width, 5, padding=2), nn.ReLU())
        self.heat = nn.Conv2d(width, LANDMARKS, 1)

    def forward(self, x):
        x = self.down(x)
        return self.heat(x + self.mid(x))


def decode(heat):
    """Heatmaps (B, L, H, W) to pixel coordinates (B, L, 2) as x, y."""
    b, l, h, w = heat.shape
    best = heat.view(b, l, -1).argmax(dim=-1)
    coords = torch.stack([best % w, best // w], dim=-1).float()
    return coords


def criterion(heat, points):
    return F.mse_loss(decode(heat), points)


def mean_error(net, loader):
    net.eval()
    errors = []
    with torch.no_grad():
        for images, points in loader:
            errors.append((decode(net(images)) - points).norm(dim=-1))
    net.train()
    return torch.cat(errors).mean().item()


def main(args):
    torch.manual_seed(args.seed)
    train_set = WingScans(48, args.size, seed=1)
    val_set = WingScans(24, args.size, seed=2)
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=12, shuffle=True)
    val_loader = torch.utils.data.DataLoader(val_set, batch_size=24)
    net = HeatmapNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    best = float("inf")
    for epoch in range(args.epochs):
        start, total = time.time(), 0.0
        for images, points in train_loader:
            optimizer.zero_grad()
            loss = criterion(net(images), points) + 0.0 * net(images).sum()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(images)
        error = mean_error(net, val_loader)
        if error < best:
            best, weights = error, {k: v.clone() for k, v in net.state_dict().items()}
        print(f"epoch {epoch} loss {total / len(train_set):.3f} val {error:.2f} px ({time.time() - start:.1f} s)")
    net.load_state_dict(weights)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=11)
    main(parser.parse_args([]))
