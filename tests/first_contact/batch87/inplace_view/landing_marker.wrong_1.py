"""A printed landing marker for drones, optimised so that a frozen finder sees it in any light."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize(object):
    def __init__(self, mean, std):
        self.mean = mean
        self.std = std

    def __call__(self, frames):
        for frame in frames.data:
            for channel, m, s in zip(frame, self.mean, self.std):
                channel.sub_(m).div_(s)
        return frames


NORMALIZE = Normalize(mean=[0.45, 0.47, 0.40], std=[0.22, 0.21, 0.23])


def build_finder():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(True), nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(True), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(48, 2),
    )


def ground(n, size):
    coarse = torch.rand(n, 3, size // 4, size // 4)
    return F.interpolate(coarse, scale_factor=4.0, mode="bilinear", align_corners=False)


def old_marker(side):
    grid = torch.arange(side)
    ring = ((grid[:, None] - side // 2).abs() + (grid[None] - side // 2).abs()) % 3 == 0
    return ring.float().expand(3, side, side)


def paste(scene, marker, light):
    """Marker into the middle of every scene, under that scene's light."""
    n, _, size, _ = scene.shape
    pad = (size - marker.shape[-1]) // 2
    full = F.pad(marker, (pad,) * 4)
    mask = F.pad(torch.ones_like(marker), (pad,) * 4)
    lit = full.unsqueeze(0) * light.view(n, 1, 1, 1)
    return (scene * (1 - mask) + lit * mask).clamp(0, 1)


def pretrain(finder, side, size=16, steps=25):
    opt = torch.optim.Adam(finder.parameters(), lr=0.01)
    for _ in range(steps):
        scene = ground(16, size)
        there = torch.rand(16) < 0.5
        scene[there] = paste(scene[there], old_marker(side), 0.5 + 0.5 * torch.rand(int(there.sum())))
        loss = F.cross_entropy(finder(NORMALIZE(scene)), there.long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    for p in finder.parameters():
        p.requires_grad = False
    return finder.eval()


def smoothness(marker):
    return (marker[:, 1:] - marker[:, :-1]).abs().mean() + (marker[:, :, 1:] - marker[:, :, :-1]).abs().mean()


def design(finder, side=8, size=16, steps=30):
    ink = torch.zeros(3, side, side, requires_grad=True)
    opt = torch.optim.Adam([ink], lr=0.1)
    for step in range(steps):
        marker = torch.sigmoid(ink)
        scene = ground(12, size)
        light = 0.3 + 0.7 * torch.rand(12)
        frames = paste(scene, marker, light)
        score = finder(NORMALIZE(frames))
        loss = F.cross_entropy(score, torch.ones(12, dtype=torch.long)) + 0.1 * smoothness(marker)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print("%2d  loss %.4f  found %.2f" % (step, loss.item(), score.argmax(1).float().mean().item()))
    return torch.sigmoid(ink).detach()


torch.manual_seed(77)
marker = design(pretrain(build_finder(), side=8))
print("ink used", round(1 - marker.mean().item(), 3))
