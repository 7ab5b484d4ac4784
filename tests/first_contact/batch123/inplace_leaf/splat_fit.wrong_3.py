"""Fit a picture with a handful of 2-D Gaussian blobs by plain gradient descent."""
import math

import torch

RES = 24


class BlobScene:
    def __init__(self, n_blobs, gen):
        self.params = {
            "center": torch.rand(n_blobs, 2, generator=gen).requires_grad_(),
            "log_size": torch.full((n_blobs,), math.log(0.15)).requires_grad_(),
            "color": torch.rand(n_blobs, 3, generator=gen).requires_grad_(),
        }
        axis = torch.linspace(0, 1, RES)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        self.pixels = torch.stack([xx, yy], dim=-1).reshape(-1, 2)

    def render(self):
        center, log_size, color = (self.params[k] for k in ("center", "log_size", "color"))
        dist2 = (self.pixels[:, None, :] - center[None]).pow(2).sum(-1)
        alpha = torch.exp(-0.5 * dist2 / torch.exp(2 * log_size))
        return (alpha @ color).reshape(RES, RES, 3)

    def zero_grad(self):
        for p in self.params.values():
            if p.grad is not None:
                p.grad.zero_()

    def step(self, lrs):
        for name, p in self.params.items():
            self.params[name] = (p - lrs[name] * p.grad).detach()


def target_image():
    axis = torch.linspace(-1, 1, RES)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    disc = torch.sigmoid(12 * (0.5 - (xx ** 2 + yy ** 2).sqrt()))
    return torch.stack([disc, 0.3 + 0.3 * xx * disc, 0.2 * torch.ones_like(xx)], dim=-1)


def psnr(mse):
    return -10 * math.log10(mse)


def fit(steps=60):
    gen = torch.Generator().manual_seed(42)
    scene = BlobScene(n_blobs=10, gen=gen)
    image = target_image()
    lrs = {"center": 0.02, "log_size": 0.1, "color": 0.5}

    for it in range(steps):
        scene.zero_grad()
        picture = scene.render()
        loss = (picture - image).pow(2).mean()
        loss.backward()
        scene.step(lrs)
        if it % 15 == 0:
            print(f"iter {it:3d}   mse {loss.item():.5f}   psnr {psnr(loss.item()):.2f} dB")
    return scene


scene = fit()
print("blob sizes:", torch.exp(scene.params["log_size"]).tolist())
