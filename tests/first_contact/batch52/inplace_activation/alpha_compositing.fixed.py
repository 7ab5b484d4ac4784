



"""Fit a handful of 2-D Gaussian splats to a small target picture, front to back compositing."""
import math

import torch
from torch import nn

SIZE = 20
torch.manual_seed(33)

ys, xs = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
PIXELS = torch.stack([xs, ys], dim=-1)


def target_picture():
    disc = ((xs + 0.3) ** 2 + (ys + 0.1) ** 2 < 0.18).float()
    bar = ((xs - 0.45).abs() < 0.16).float()
    background = torch.tensor([0.15, 0.15, 0.25])
    picture = background + disc[..., None] * torch.tensor([0.8, 0.3, 0.0])
    return torch.where(bar[..., None] > 0, torch.tensor([0.1, 0.7, 0.4]), picture).clamp(0, 1)


class Splats(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.mean = nn.Parameter(torch.rand(count, 2) * 1.6 - 0.8)
        self.log_scale = nn.Parameter(torch.full((count, 2), math.log(0.3)))
        self.angle = nn.Parameter(torch.zeros(count))
        self.colour = nn.Parameter(0.3 * torch.randn(count, 3))
        self.opacity = nn.Parameter(torch.full((count,), 0.4))
        self.depth = nn.Parameter(torch.rand(count), requires_grad=False)
        self.background = nn.Parameter(torch.zeros(3))

    def alpha(self, k):
        """coverage of every pixel by splat k"""
        c, s = self.angle[k].cos(), self.angle[k].sin()
        offset = PIXELS - self.mean[k]
        u = c * offset[..., 0] + s * offset[..., 1]
        v = -s * offset[..., 0] + c * offset[..., 1]
        su, sv = self.log_scale[k].exp()
        falloff = torch.exp(-0.5 * ((u / su) ** 2 + (v / sv) ** 2))
        return torch.sigmoid(self.opacity[k]) * falloff

    def render(self):
        image = torch.zeros(SIZE, SIZE, 3)
        transmittance = torch.ones(SIZE, SIZE)
        for k in self.depth.argsort().tolist():
            alpha = self.alpha(k)
            weight = alpha * transmittance
            image = image + weight[..., None] * torch.sigmoid(self.colour[k])
            transmittance = transmittance * (1 - alpha)
        return image + transmittance[..., None] * torch.sigmoid(self.background)


def psnr(a, b):
    return -10 * torch.log10((a - b).pow(2).mean())


scene = Splats(8)
truth = target_picture()
groups = [
    {"params": [scene.mean, scene.log_scale, scene.angle], "lr": 0.02},
    {"params": [scene.colour, scene.opacity, scene.background], "lr": 0.08},
]
optimizer = torch.optim.Adam(groups)

for step in range(25):
    optimizer.zero_grad()
    image = scene.render()
    loss = (image - truth).abs().mean() + 1e-3 * scene.log_scale.exp().mean()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step:2d}  l1 {loss.item():.4f}  psnr {psnr(image, truth).item():.2f} dB")
