# expect: pattern = growing-history
# expect: also = stored-graph
# expect: carrier = loss_dict, last, curves
"""Finds burrow entrances in drone tiles of several islands: one small anchor-free detector for all of them.

Host memory goes up by some MB with every island that gets reported, never down again.
"""
import argparse
import random
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

ISLANDS = ["mykines", "runde", "skomer"]


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--tiles", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--report-every", type=int, default=2)
    parser.add_argument("--lr", type=float, default=3e-3)
    return parser.parse_args()


class Tiles(torch.utils.data.Dataset):
    """Grass with dark round holes; the target is centre map, offsets and radius on a grid of 8 by 8."""

    def __init__(self, island, n):
        rng = torch.Generator().manual_seed(sum(map(ord, island)))
        self.items = []
        yy, xx = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
        for _ in range(n):
            image = 0.6 + 0.1 * torch.randn(3, 32, 32, generator=rng)
            centre, box = torch.zeros(1, 8, 8), torch.zeros(3, 8, 8)
            for _ in range(int(torch.randint(1, 4, (1,), generator=rng))):
                cx, cy, r = (torch.rand(3, generator=rng) * torch.tensor([28.0, 28.0, 2.0]) + 2).tolist()
                image[:, (xx - cx) ** 2 + (yy - cy) ** 2 < r * r] -= 0.5
                gx, gy = int(cx // 4), int(cy // 4)
                centre[0, gy, gx] = 1
                box[:, gy, gx] = torch.tensor([cx / 4 - gx, cy / 4 - gy, r / 4])
            self.items.append((image, centre, box))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class BurrowNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
        )
        self.centre = nn.Conv2d(2 * width, 1, 3, padding=1)
        self.box = nn.Conv2d(2 * width, 3, 3, padding=1)

    def forward(self, images, targets=None):
        features = self.backbone(images)
        centre, box = self.centre(features), self.box(features)
        if targets is None:
            return centre.sigmoid(), box
        t_centre, t_box = targets
        weight = 1 + 20 * t_centre
        return {
            "loss_centre": F.binary_cross_entropy_with_logits(centre, t_centre, weight=weight),
            "loss_box": ((box - t_box).abs() * t_centre).sum() / t_centre.sum().clamp(min=1),
        }


def train_one_epoch(model, optimizer, loader):
    model.train()
    for images, centre, box in loader:
        loss_dict = model(images, (centre, box))
        losses = sum(loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
    return loss_dict  # expect: place


def main(args):
    torch.manual_seed(13)
    random.seed(13)
    loaders = {
        name: torch.utils.data.DataLoader(Tiles(name, args.tiles), args.batch_size, shuffle=True)
        for name in ISLANDS
    }
    model = BurrowNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    curves = defaultdict(dict)
    for epoch in range(args.epochs):
        island = random.choice(ISLANDS)
        last = train_one_epoch(model, optimizer, loaders[island])
        if (epoch + 1) % args.report_every == 0:
            curves[island][f"epoch_{epoch:03d}"] = last  # expect: place
            print(epoch, island, " ".join(f"{k} {v:.3f}" for k, v in last.items()))
    for island, rows in sorted(curves.items()):
        best = min(rows, key=lambda key: float(rows[key]["loss_centre"]))
        print(f"{island:10s} {len(rows)} reports, best {best}")


if __name__ == "__main__":
    main(get_args())
