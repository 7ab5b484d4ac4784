"""Toy radiance field with joint refinement of the camera poses (colour only, orthographic sun)."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    n_views: int = 6
    side: int = 12
    n_samples: int = 16
    batch_rays: int = 128
    iters: int = 21
    near: float = 1.5
    far: float = 4.5
    lr_field: float = 5e-3
    lr_pose: float = 1e-3


def skew(w):
    o = torch.zeros_like(w[:, 0])
    return torch.stack([o, -w[:, 2], w[:, 1], w[:, 2], o, -w[:, 0], -w[:, 1], w[:, 0], o], 1).view(-1, 3, 3)


class Cameras(nn.Module):
    """Poses from structure from motion plus a small learned se(3) correction per view."""

    def __init__(self, rot, centre):
        super().__init__()
        self.register_buffer("rot", rot)
        self.register_buffer("centre", centre)
        self.omega = nn.Parameter(torch.zeros(len(rot), 3))
        self.shift = nn.Parameter(torch.zeros(len(rot), 3))

    def poses(self):
        return torch.linalg.matrix_exp(skew(self.omega)) @ self.rot, self.centre + self.shift


class Field(nn.Module):
    def __init__(self, n_freq=4, width=48):
        super().__init__()
        self.register_buffer("freq", math.pi * 2.0 ** torch.arange(n_freq) / 4)
        self.net = nn.Sequential(nn.Linear(6 * n_freq, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                 nn.Linear(width, 4))

    def forward(self, xyz):
        ang = (xyz[..., None] * self.freq).flatten(-2)
        raw = self.net(torch.cat([ang.sin(), ang.cos()], -1))
        return raw[..., :3].sigmoid(), nn.functional.softplus(raw[..., 3])


class RayBank:
    """All pixels of all views as one flat table of rays, shuffled by index."""

    def __init__(self, cams, images):
        n, side = images.shape[0], images.shape[1]
        lin = torch.linspace(-0.5, 0.5, side)
        v, u = torch.meshgrid(lin, lin, indexing="ij")
        pix = torch.stack([u, -v, -torch.ones_like(u)], -1).view(1, -1, 3)
        rot, centre = cams.poses()
        self.dirs = (pix @ rot.transpose(1, 2)).reshape(-1, 3)
        self.origins = centre[:, None].expand(n, side * side, 3).reshape(-1, 3)
        self.rgb = images.reshape(-1, 3)

    def draw(self, k):
        i = torch.randint(len(self.rgb), (k,))
        return self.origins[i], self.dirs[i], self.rgb[i]


def render(field, origins, dirs, cfg):
    z = torch.linspace(cfg.near, cfg.far, cfg.n_samples)
    xyz = origins[:, None] + dirs[:, None] * z[:, None]
    rgb, sigma = field(xyz)
    tau = sigma * (cfg.far - cfg.near) / cfg.n_samples
    seen = torch.exp(-torch.cumsum(tau, 1) + tau)
    return ((seen * (1 - torch.exp(-tau)))[..., None] * rgb).sum(1)


def capture(cfg):
    """A coloured ball photographed from a ring; the poses come back slightly off."""
    yaw = torch.linspace(0, 2 * math.pi, cfg.n_views + 1)[:-1]
    z = torch.zeros_like(yaw)
    rot = torch.linalg.matrix_exp(skew(torch.stack([z, yaw, z], 1)))
    images = torch.rand(cfg.n_views, cfg.side, cfg.side, 3) * 0.1 + yaw.cos().view(-1, 1, 1, 1) * 0.2 + 0.5
    centre = rot @ torch.tensor([0.0, 0.0, 3.0]) + 0.03 * torch.randn(cfg.n_views, 3)
    return rot, centre, images


def main(cfg):
    torch.manual_seed(0)
    rot, centre, images = capture(cfg)
    cams, field = Cameras(rot, centre), Field()
    opt = torch.optim.Adam([{"params": field.parameters(), "lr": cfg.lr_field},
                            {"params": cams.parameters(), "lr": cfg.lr_pose}])
    for it in range(cfg.iters):
        bank = RayBank(cams, images)
        origins, dirs, rgb = bank.draw(cfg.batch_rays)
        loss = (render(field, origins, dirs, cfg) - rgb).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 0:
            print(f"{it:4d} psnr {-10 * math.log10(loss.item()):.2f} "
                  f"drift {cams.shift.detach().norm(dim=1).mean():.4f}")


main(Config())
