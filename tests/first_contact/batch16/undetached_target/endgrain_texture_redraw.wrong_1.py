"""Redraw a scan of oak end grain so that it keeps its rings and takes the pores of ash.

1. a small net learns to tell species apart (stands in for a pretrained one)
2. the statistics of its layers describe a texture
3. L-BFGS changes the canvas until its statistics are those of the ash scan
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

SPECIES = 3


def fake_scan(species, size=20):
    rows = torch.linspace(0, 6.28 * (species + 1), size)
    rings = torch.sin(rows).view(1, 1, size, 1).expand(1, 1, size, size)
    return 0.5 * rings + 0.2 * torch.randn(1, 1, size, size)


class GrainNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(
            [
                nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU()),
                nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(6, 10, 3, padding=1), nn.ReLU()),
                nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(10, 12, 3, padding=1), nn.ReLU()),
            ]
        )
        self.classify = nn.Linear(12, SPECIES)

    def features(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps

    def forward(self, x):
        return self.classify(self.features(x)[-1].mean((2, 3)))


def gram(maps):
    n, c, h, w = maps.shape
    flat = maps.view(n * c, h * w)
    return flat @ flat.t() / (n * c * h * w)


class TextureLoss(nn.Module):
    """Distance of one layer's statistics from those of the reference scan."""

    def __init__(self, reference_maps):
        super().__init__()
        self.target = gram(reference_maps)

    def forward(self, maps):
        return F.mse_loss(gram(maps).detach(), self.target)


class RingLoss(nn.Module):
    def __init__(self, content_maps):
        super().__init__()
        self.target = content_maps.detach()

    def forward(self, maps):
        return F.mse_loss(maps, self.target)


def pretrain(net, steps):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        labels = torch.arange(SPECIES)
        scans = torch.cat([fake_scan(int(k)) for k in labels])
        loss = F.cross_entropy(net(scans), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    return loss.item()


def redraw(net, content, reference, args):
    texture = [TextureLoss(maps) for maps in net.features(reference)]
    rings = RingLoss(net.features(content)[1])
    canvas = content.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS([canvas], lr=0.5, max_iter=4)
    calls = 0

    def closure():
        nonlocal calls
        optimizer.zero_grad()
        maps = net.features(canvas)
        texture_score = sum(loss(layer) for loss, layer in zip(texture, maps))
        ring_score = rings(maps[1])
        loss = args.texture_weight * texture_score + args.ring_weight * ring_score
        loss.backward()
        calls += 1
        if calls % 10 == 0:
            print(f"call {calls:3d}  texture {texture_score.item():.5f}  rings {ring_score.item():.5f}")
        return loss

    for _ in range(args.rounds):
        optimizer.step(closure)
        with torch.no_grad():
            canvas.clamp_(-1.5, 1.5)
    return canvas.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--texture-weight", type=float, default=400.0)
    parser.add_argument("--ring-weight", type=float, default=1.0)
    args = parser.parse_args([])
    torch.manual_seed(3)
    net = GrainNet()
    print("species loss", round(pretrain(net, 15), 4))
    oak, ash = fake_scan(0), fake_scan(2)
    result = redraw(net, oak, ash, args)
    print("changed by", (result - oak).abs().mean().item())


if __name__ == "__main__":
    main()
