"""Where is the mildew on a vine leaf? A mask, trained with a mixture of losses by name."""
import argparse
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def dice(logits, mask):
    p = logits.sigmoid()
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


def focal(logits, mask, gamma=2.0):
    ce = F.binary_cross_entropy_with_logits(logits, mask, reduction="none")
    return ((1 - torch.exp(-ce)) ** gamma * ce).mean()


LOSSES = {"bce": F.binary_cross_entropy_with_logits, "dice": dice, "focal": focal}


@dataclass
class Mixture:
    weights: dict = field(default_factory=lambda: {"bce": 1.0, "dice": 0.5, "focal": 0.5})

    def __call__(self, logits, mask):
        parts = [w * LOSSES[name](logits, mask) for name, w in self.weights.items()]
        return torch.tensor(parts, requires_grad=True).sum()


class LeafNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.up = nn.ConvTranspose2d(width, 1, 2, stride=2)

    def forward(self, x):
        x = F.relu(self.down(x))
        return self.up(F.relu(self.middle(x)) + x)


class Trainer:
    def __init__(self, net, criterion, lr):
        self.net, self.criterion = net, criterion
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def step(self, image, mask):
        self.net.train()
        loss = self.criterion(self.net(image), mask)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, images, masks, epochs, batch):
        for epoch in range(epochs):
            losses = [self.step(i, m) for i, m in zip(images.split(batch), masks.split(batch))]
            print(f"epoch {epoch}: {np.mean(losses):.4f}")


def leaves(n, rng, size=16):
    rows, columns = np.mgrid[:size, :size]
    images = rng.normal(0, 0.3, (n, 3, size, size))
    masks = np.zeros((n, 1, size, size))
    for i, (r, c) in enumerate(rng.integers(3, size - 3, (n, 2))):
        masks[i, 0] = (rows - r) ** 2 + (columns - c) ** 2 < 10
    images[:, 1] += 1 - masks[:, 0]
    return torch.tensor(images, dtype=torch.float32), torch.tensor(masks, dtype=torch.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(0)
    images, masks = leaves(32, np.random.default_rng(0))
    Trainer(LeafNet(), Mixture(), args.lr).fit(images, masks, args.epochs, args.batch)


if __name__ == "__main__":
    main()
