import math

import torch
import torch.nn.functional as F


def get_directions(H, W, focal):
    j, i = torch.meshgrid(torch.arange(H, dtype=torch.float32), torch.arange(W, dtype=torch.float32), indexing="ij")
    return torch.stack([(i - W / 2 + 0.5) / focal, -(j - H / 2 + 0.5) / focal, -torch.ones_like(i)], -1).view(-1, 3)


def get_rays(directions, c2w):
    """(HW, 3), (N, 3, 4) -> origins and unit directions, both (N * HW, 3)"""
    rays_d = torch.einsum("pk,nck->npc", directions, c2w[:, :, :3])
    rays_d = F.normalize(rays_d, dim=-1)
    rays_o = c2w[:, None, :, 3].expand_as(rays_d)
    return rays_o.reshape(-1, 3), rays_d.reshape(-1, 3)


class RayDataset:
    def __init__(self, pose_net, images, H, W, focal):
        self.directions = get_directions(H, W, focal)
        self.pixels = images.view(-1)
        self.pose_net = pose_net

    def __len__(self):
        return len(self.pixels)

    def sample(self, n):
        idx = torch.randint(len(self), (n,))
        rays = torch.cat(get_rays(self.directions, self.pose_net()), dim=-1)[idx]
        return rays[:, :3], rays[:, 3:], self.pixels[idx]


def silhouettes(n_cams, H, W, focal, radius=0.8, distance=3.0):
    c2w, images = [], []
    for k in range(n_cams):
        a = 2 * math.pi * k / n_cams
        rot = torch.tensor([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
        c2w.append(torch.cat([rot, distance * rot[:, 2:]], dim=1))
    c2w = torch.stack(c2w)
    o, d = get_rays(get_directions(H, W, focal), c2w)
    closest = (o - (o * d).sum(-1, keepdim=True) * d).norm(dim=-1)
    images = (closest < radius).float().view(n_cams, H * W)
    wobble = 0.05 * torch.randn(n_cams, 3)
    noisy = c2w.clone()
    noisy[:, :, 3] += wobble
    return noisy, images
