"""Inpainting with an untrained decoder: fit one damaged picture, keep the best iterate."""
import copy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Options:
    size: int = 24
    code_channels: int = 8
    steps: int = 60
    smooth: float = 0.1
    lr: float = 1e-2
    missing: float = 0.4
    jitter: float = 0.03
    seed: int = 3


@dataclass
class Frame:
    step: int
    image: torch.Tensor

    def roughness(self):
        dy = (self.image[..., 1:, :] - self.image[..., :-1, :]).abs().mean()
        dx = (self.image[..., :, 1:] - self.image[..., :, :-1]).abs().mean()
        return dx + dy

    def psnr(self, reference):
        error = torch.mean((self.image - reference) ** 2).item()
        return -10 * np.log10(error + 1e-12)


class Decoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, 16, 3, padding=1),
            nn.LeakyReLU(0.1),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
            nn.Conv2d(16, 16, 3, padding=1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(16, 3, 1),
            nn.Sigmoid(),
        )

    def forward(self, code):
        return self.layers(code)


def synthetic_picture(size, rng):
    y, x = np.mgrid[0:size, 0:size] / size
    waves = [np.sin(rng.uniform(3, 9) * x + rng.uniform(3, 9) * y) for _ in range(3)]
    picture = 0.5 + 0.4 * np.stack(waves)
    return torch.tensor(picture, dtype=torch.float32).unsqueeze(0)


class Inpainter:
    def __init__(self, opts):
        rng = np.random.default_rng(opts.seed)
        self.opts = opts
        self.reference = synthetic_picture(opts.size, rng)
        kept = rng.random((1, 1, opts.size, opts.size)) > opts.missing
        self.mask = torch.tensor(kept, dtype=torch.float32)
        self.damaged = self.reference * self.mask
        self.decoder = Decoder(opts.code_channels)
        self.code = torch.randn(1, opts.code_channels, opts.size // 2, opts.size // 2)
        self.optimizer = torch.optim.Adam(self.decoder.parameters(), lr=opts.lr)
        self.best, self.best_loss = None, float("inf")

    def fidelity(self, output):
        return ((output - self.damaged) * self.mask).pow(2).sum() / self.mask.sum()

    def iterate(self, step):
        code = self.code + self.opts.jitter * torch.randn_like(self.code)
        output = self.decoder(code).detach()
        frame = Frame(step, output)
        loss = self.fidelity(output) + self.opts.smooth * frame.roughness()
        if loss.item() < self.best_loss:
            self.best_loss = loss.item()
            self.best = copy.deepcopy(frame)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self):
        for step in range(self.opts.steps):
            value = self.iterate(step)
            if step % 15 == 0:
                print(f"{step:3d}  loss {value:.5f}")
        return self.best


if __name__ == "__main__":
    options = Options()
    torch.manual_seed(options.seed)
    inpainter = Inpainter(options)
    winner = inpainter.run()
    print(f"best at {winner.step}, psnr {winner.psnr(inpainter.reference):.2f} dB")
