"""Grow a fabric texture whose filter statistics match those of a sample patch."""
from typing import List

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(90)
np.random.seed(90)


def weave(size: int = 32) -> torch.Tensor:
    yy, xx = np.mgrid[:size, :size]
    warp = 0.5 + 0.4 * np.sin(xx * 1.3) * (np.sin(yy * 0.7) > 0)
    weft = 0.5 + 0.4 * np.sin(yy * 1.3) * (np.sin(yy * 0.7) <= 0)
    tint = np.stack([warp, weft, 0.5 * (warp + weft)])
    tint = tint + 0.03 * np.random.randn(*tint.shape)
    return torch.tensor(tint, dtype=torch.float32).clamp(0, 1).unsqueeze(0)


class FilterBank(nn.Module):
    """Random convolutions; only their responses matter."""

    def __init__(self, widths=(12, 16, 20)):
        super().__init__()
        blocks, last = [], 3
        for w in widths:
            blocks.append(nn.Sequential(nn.Conv2d(last, w, 3, padding=1), nn.ReLU(inplace=True)))
            last = w
        self.blocks = nn.ModuleList(blocks)
        self.pool = nn.AvgPool2d(2)
        self.requires_grad_(False)

    def forward(self, img: torch.Tensor) -> List[torch.Tensor]:
        feats, h = [], img
        for block in self.blocks:
            h = block(h)
            feats.append(h)
            h = self.pool(h)
        return feats


def gram(f: torch.Tensor) -> torch.Tensor:
    flat = f.flatten(2).squeeze(0)
    return flat @ flat.T / flat.shape[1]


def roughness(img: torch.Tensor) -> torch.Tensor:
    dx = img[..., :, 1:] - img[..., :, :-1]
    dy = img[..., 1:, :] - img[..., :-1, :]
    return dx.abs().mean() + dy.abs().mean()


class Synthesis:
    def __init__(self, sample: torch.Tensor, tv: float = 1e-4):
        self.bank = FilterBank().eval()
        self.goal = [gram(f) for f in self.bank(sample)]
        self.tv = tv
        self.canvas = torch.rand_like(sample).requires_grad_()
        self.opt = torch.optim.LBFGS([self.canvas], lr=0.8, max_iter=4, history_size=8)
        self.log: List[float] = []

    def closure(self) -> torch.Tensor:
        self.opt.zero_grad()
        parts = [((gram(f) - g) ** 2).sum() for f, g in zip(self.bank(self.canvas), self.goal)]
        loss = 10 * torch.stack(parts).sum() + self.tv * roughness(self.canvas)
        loss.backward()
        self.log.append(loss.item())
        return loss

    def grow(self, rounds: int = 12) -> torch.Tensor:
        for r in range(rounds):
            loss = self.opt.step(self.closure)
            with torch.no_grad():
                self.canvas.clamp_(0, 1)
            if r % 3 == 0:
                print(f"round {r:2d}  loss {float(loss):.5f}  calls {len(self.log)}")
        return self.canvas.detach().clone()


if __name__ == "__main__":
    patch = weave()
    job = Synthesis(patch)
    picture = job.grow()
    print("mean colour", [round(c, 3) for c in picture.mean(dim=(0, 2, 3)).tolist()])
    print("sample     ", [round(c, 3) for c in patch.mean(dim=(0, 2, 3)).tolist()])
