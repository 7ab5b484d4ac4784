# expect: pattern = none
# expect: raises = nothing
"""Fit a deformable point shape to silhouettes from several cameras (soft splatting)."""
import math

import torch
from torch import nn

N_POINTS, N_VIEWS, RES = 80, 6, 20


def rotation(angle):
    c, s = math.cos(angle), math.sin(angle)
    return torch.tensor([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def splat(points, camera, sigma=0.12):
    """Soft silhouette of a point cloud under an orthographic camera."""
    xy = (points @ camera.T)[:, :2]
    axis = torch.linspace(-1.4, 1.4, RES)
    gy, gx = torch.meshgrid(axis, axis, indexing="ij")
    dist = (gx[..., None] - xy[:, 0]) ** 2 + (gy[..., None] - xy[:, 1]) ** 2
    return 1 - torch.prod(1 - 0.9 * torch.exp(-dist / (2 * sigma ** 2)), dim=-1)


class Deformer(nn.Module):
    def __init__(self, template, code_dim=8):
        super().__init__()
        self.register_buffer("template", template)
        self.code = nn.Parameter(torch.zeros(code_dim))
        self.mlp = nn.Sequential(nn.Linear(3 + code_dim, 32), nn.Softplus(), nn.Linear(32, 3))
        nn.init.normal_(self.mlp[-1].weight, std=1e-2)
        nn.init.zeros_(self.mlp[-1].bias)

    def forward(self):
        code = self.code.expand(len(self.template), -1)
        offset = self.mlp(torch.cat([self.template, code], dim=1))
        return self.template + offset, offset


def fit(iterations=20):
    torch.manual_seed(9)
    torch.set_num_threads(1)
    sphere = torch.randn(N_POINTS, 3)
    sphere = sphere / sphere.norm(dim=1, keepdim=True)
    target = sphere * torch.tensor([1.2, 0.6, 0.8])
    cameras = [rotation(2 * math.pi * i / N_VIEWS) for i in range(N_VIEWS)]
    masks = [splat(target, cam) for cam in cameras]

    shape = Deformer(sphere)
    optimizer = torch.optim.Adam(shape.parameters(), lr=1e-2)
    curve = []
    for it in range(iterations):
        optimizer.zero_grad()
        points, offset = shape()
        (1e-2 * offset.pow(2).mean()).backward(retain_graph=True)
        running = 0.0
        # a view at a time: all the images together do not fit on the laptop
        for i, (cam, mask) in enumerate(zip(cameras, masks)):
            loss = (splat(points, cam) - mask).pow(2).mean() / N_VIEWS
            loss.backward(retain_graph=i + 1 < N_VIEWS)
            running += loss.detach()
        optimizer.step()
        curve.append(running)
        if it % 5 == 0:
            print(f"{it:3d} silhouette error {running:.5f}")
    return torch.stack(curve)


curve = fit()
print("improved by %.1f%%" % (100 * (1 - curve[-1] / curve[0]).item()))
