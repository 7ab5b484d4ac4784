# expect: pattern = starved-parameter
# expect: also = detached-loss
# expect: raises = nothing
# expect: carrier = K
"""Camera calibration from checkerboard corners by gradient descent.

Unknown: focal lengths, principal point, one radial coefficient, and the pose of the board in every view.
"""
import math

import torch
from torch import nn


def skew(v):
    zero = torch.zeros_like(v[..., 0])
    return torch.stack([
        torch.stack([zero, -v[..., 2], v[..., 1]], -1),
        torch.stack([v[..., 2], zero, -v[..., 0]], -1),
        torch.stack([-v[..., 1], v[..., 0], zero], -1),
    ], -2)


def so3_exp(v):
    angle = v.norm(dim=-1, keepdim=True).clamp(min=1e-8).unsqueeze(-1)
    s = skew(v)
    eye = torch.eye(3).expand_as(s)
    return eye + torch.sin(angle) / angle * s + (1 - torch.cos(angle)) / angle ** 2 * (s @ s)


class Intrinsics(nn.Module):
    """In units of the half image width, so that everything is about one."""

    def __init__(self, focal=1.0, k1=0.0):
        super().__init__()
        self.fx = nn.Parameter(torch.tensor(focal))
        self.fy = nn.Parameter(torch.tensor(focal))
        self.cx = nn.Parameter(torch.tensor(0.0))
        self.cy = nn.Parameter(torch.tensor(0.0))
        self.k1 = nn.Parameter(torch.tensor(k1))

    def matrix(self):
        K = torch.tensor([[self.fx, 0.0, self.cx],  # expect: place
                          [0.0, self.fy, self.cy],  # expect: place
                          [0.0, 0.0, 1.0]])
        return K

    def forward(self, cam):
        xy = cam[..., :2] / cam[..., 2:]
        r2 = (xy ** 2).sum(-1, keepdim=True)
        xy = xy * (1 + self.k1 * r2)
        homogeneous = torch.cat([xy, torch.ones_like(xy[..., :1])], -1)
        return (homogeneous @ self.matrix().T)[..., :2]  # expect: place


class BoardPoses(nn.Module):
    def __init__(self, n_views):
        super().__init__()
        self.rotvec = nn.Parameter(0.01 * torch.randn(n_views, 3))
        self.shift = nn.Parameter(torch.tensor([[0.0, 0.0, 3.0]]).repeat(n_views, 1))

    def forward(self, board):
        return torch.einsum("vij,pj->vpi", so3_exp(self.rotvec), board) + self.shift.unsqueeze(1)


def checkerboard(rows=6, cols=8, size=0.2):
    grid = torch.cartesian_prod(torch.arange(rows), torch.arange(cols)).float() * size
    grid = grid - grid.mean(0)
    return torch.cat([grid, torch.zeros(len(grid), 1)], 1)


def photograph(board, n_views, noise=5e-4):
    rotvec = torch.randn(n_views, 3) * torch.tensor([0.45, 0.45, 0.2])
    shift = torch.cat([0.3 * torch.randn(n_views, 2), 2.4 + torch.rand(n_views, 1)], 1)
    cam = torch.einsum("vij,pj->vpi", so3_exp(rotvec), board) + shift.unsqueeze(1)
    xy = cam[..., :2] / cam[..., 2:]
    xy = xy * (1 - 0.12 * (xy ** 2).sum(-1, keepdim=True))
    uv = xy * torch.tensor([1.62, 1.58]) + torch.tensor([0.06, -0.04])
    return uv + noise * torch.randn_like(uv)


def calibrate(iterations=400):
    board = checkerboard()
    corners = photograph(board, n_views=8)
    intrinsics, poses = Intrinsics(focal=1.2), BoardPoses(len(corners))
    optimizer = torch.optim.Adam([
        {"params": intrinsics.parameters(), "lr": 1.5e-2},
        {"params": poses.parameters(), "lr": 2e-2},
    ])
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.995)
    for it in range(iterations):
        residual = intrinsics(poses(board)) - corners
        loss = 100 * residual.pow(2).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if it % 80 == 79:
            rms = math.sqrt(loss.item() / 100)
            print(f"{it + 1:4d}  rms {rms:.5f}  fx {intrinsics.fx.item():.4f} fy {intrinsics.fy.item():.4f} "
                  f"c ({intrinsics.cx.item():+.3f}, {intrinsics.cy.item():+.3f})  k1 {intrinsics.k1.item():+.3f}")
    return intrinsics


if __name__ == "__main__":
    torch.manual_seed(61)
    calibrate()
