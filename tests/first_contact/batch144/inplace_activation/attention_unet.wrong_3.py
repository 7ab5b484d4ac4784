"""Attention U-Net (two levels) for segmenting bright cells on a noisy background."""
from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    size: int = 32
    n_train: int = 32
    n_val: int = 8
    batch_size: int = 4
    width: int = 8
    lr: float = 1e-2
    epochs: int = 2
    seed: int = 42


class CellImages(Dataset):
    def __init__(self, n: int, size: int, seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.masks = torch.zeros(n, 1, size, size)
        for k in range(n):
            for _ in range(3):
                cy, cx = torch.randint(4, size - 4, (2,), generator=g)
                radius = torch.randint(2, 6, (1,), generator=g)
                self.masks[k, 0][(yy - cy) ** 2 + (xx - cx) ** 2 <= radius ** 2] = 1.0
        self.images = self.masks + 0.5 * torch.randn(self.masks.shape, generator=g)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        return self.images[i], self.masks[i]


class ConvBlock(nn.Module):
    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
            nn.BatchNorm2d(c_out),
            nn.ReLU(inplace=True),
            nn.Conv2d(c_out, c_out, 3, padding=1, bias=False),
            nn.BatchNorm2d(c_out),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.body(x)


class AttentionGate(nn.Module):
    """Additive gate of Oktay et al.: the decoder decides where to look in the skip."""

    def __init__(self, c_gate: int, c_skip: int, c_mid: int) -> None:
        super().__init__()
        self.w_g = nn.Conv2d(c_gate, c_mid, 1)
        self.w_x = nn.Conv2d(c_skip, c_mid, 1, bias=False)
        self.psi = nn.Conv2d(c_mid, 1, 1)

    def forward(self, gate: Tensor, skip: Tensor) -> Tensor:
        alpha = torch.sigmoid(self.psi(F.relu(self.w_g(gate) + self.w_x(skip))))
        return skip.detach() * alpha


class AttentionUNet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.enc1 = ConvBlock(1, width)
        self.enc2 = ConvBlock(width, 2 * width)
        self.bottom = ConvBlock(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.att2 = AttentionGate(2 * width, 2 * width, width)
        self.dec2 = ConvBlock(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.att1 = AttentionGate(width, width, width // 2)
        self.dec1 = ConvBlock(2 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        b = self.bottom(F.max_pool2d(e2, 2))
        g2 = self.up2(b)
        d2 = self.dec2(torch.cat([g2, self.att2(g2, e2)], dim=1))
        g1 = self.up1(d2)
        d1 = self.dec1(torch.cat([g1, self.att1(g1, e1)], dim=1))
        return self.head(d1)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    inter = union = 0.0
    for image, mask in loader:
        pred = model(image) > 0
        inter += (pred & (mask > 0.5)).sum().item()
        union += (pred | (mask > 0.5)).sum().item()
    return inter / max(union, 1.0)


def run(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    train = DataLoader(CellImages(cfg.n_train, cfg.size, 0), cfg.batch_size, shuffle=True)
    val = DataLoader(CellImages(cfg.n_val, cfg.size, 1), cfg.batch_size)
    model = AttentionUNet(cfg.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for image, mask in train:
            loss = F.binary_cross_entropy_with_logits(model(image), mask)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"[{epoch}] loss={total / len(train):.4f} IoU={evaluate(model, val):.3f}")


if __name__ == "__main__":
    run(Config())
