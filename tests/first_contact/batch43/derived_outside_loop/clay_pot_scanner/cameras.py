import torch
from torch import nn


def vec2skew(v):
    zero = torch.zeros_like(v[..., 0])
    return torch.stack([
        torch.stack([zero, -v[..., 2], v[..., 1]], -1),
        torch.stack([v[..., 2], zero, -v[..., 0]], -1),
        torch.stack([-v[..., 1], v[..., 0], zero], -1),
    ], -2)


def exp_so3(r):
    K = vec2skew(r)
    theta = (r.pow(2).sum(-1) + 1e-12).sqrt()[..., None, None]
    eye = torch.eye(3)
    return eye + theta.sin() / theta * K + (1 - theta.cos()) / theta ** 2 * (K @ K)


class LearnPose(nn.Module):
    """a small rotation and translation on top of every initial camera-to-world matrix"""

    def __init__(self, n_cams, init_c2w):
        super().__init__()
        self.register_buffer("init_c2w", init_c2w)
        self.r = nn.Parameter(torch.full((n_cams, 3), 1e-3))
        self.t = nn.Parameter(torch.zeros(n_cams, 3))

    def forward(self):
        R = exp_so3(self.r) @ self.init_c2w[:, :3, :3]
        t = self.init_c2w[:, :3, 3] + self.t
        return torch.cat([R, t[..., None]], dim=-1)
