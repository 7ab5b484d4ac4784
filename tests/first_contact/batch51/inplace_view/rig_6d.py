# expect: pattern = inplace-view
# expect: raises = RuntimeError: Output 0 of Split
# expect: carrier = a, b
"""Joint refinement of camera poses and landmarks (tiny bundle adjustment).

Rotations use the continuous 6D parametrisation: two 3-vectors, Gram-Schmidt, cross product.
"""
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class BAConfig:
    n_views: int = 6
    n_points: int = 40
    focal: float = 1.4
    pose_noise: float = 0.05
    point_noise: float = 0.15
    iters: int = 80
    lrs: dict = field(default_factory=lambda: {"pose": 2e-3, "points": 1e-2})
    huber: float = 0.05


def rotation_from_6d(d6: Tensor) -> Tensor:
    a, b = d6.split(3, dim=-1)  # expect: place
    a /= a.norm(dim=-1, keepdim=True)  # expect: place
    b -= (a * b).sum(-1, keepdim=True) * a  # expect: place
    b /= b.norm(dim=-1, keepdim=True)  # expect: place
    return torch.stack([a, b, torch.linalg.cross(a, b)], dim=-2)


def look_at_origin(n_views: int) -> tuple[Tensor, Tensor]:
    angle = torch.linspace(-0.9, 0.9, n_views)
    rows = torch.stack([torch.stack([angle.cos(), torch.zeros(n_views), -angle.sin()], -1),
                        torch.tensor([0.0, 1.0, 0.0]).expand(n_views, 3),
                        torch.stack([angle.sin(), torch.zeros(n_views), angle.cos()], -1)], dim=1)
    return rows, torch.tensor([0.0, 0.0, 4.0]).repeat(n_views, 1)


class Rig(nn.Module):
    """First camera is the gauge and stays where it is."""

    def __init__(self, rot: Tensor, trans: Tensor, points: Tensor, focal: float):
        super().__init__()
        self.focal = focal
        self.register_buffer("base6d", rot[:, :2].reshape(-1, 6).clone())
        self.delta6d = nn.Parameter(torch.zeros(len(rot) - 1, 6))
        self.register_buffer("trans0", trans[:1].clone())
        self.trans = nn.Parameter(trans[1:].clone())
        self.points = nn.Parameter(points.clone())

    def poses(self) -> tuple[Tensor, Tensor]:
        moved = torch.cat([self.base6d[:1], self.base6d[1:] + self.delta6d])
        return rotation_from_6d(moved), torch.cat([self.trans0, self.trans])

    def forward(self) -> Tensor:
        R, t = self.poses()
        cam = torch.einsum("vij,pj->vpi", R, self.points) + t[:, None]
        return self.focal * cam[..., :2] / cam[..., 2:].clamp(min=0.1)


def make_problem(cfg: BAConfig):
    rot, trans = look_at_origin(cfg.n_views)
    points = torch.rand(cfg.n_points, 3) * 2 - 1
    cam = torch.einsum("vij,pj->vpi", rot, points) + trans[:, None]
    uv = cfg.focal * cam[..., :2] / cam[..., 2:]
    uv = uv + 2e-3 * torch.randn_like(uv)
    visible = torch.rand(cfg.n_views, cfg.n_points) < 0.85
    rig = Rig(rot + cfg.pose_noise * torch.randn_like(rot), trans + cfg.pose_noise * torch.randn_like(trans),
              points + cfg.point_noise * torch.randn_like(points), cfg.focal)
    return rig, uv, visible


def adjust(cfg: BAConfig) -> list[float]:
    rig, uv, visible = make_problem(cfg)
    optimizer = torch.optim.Adam([
        {"params": [rig.delta6d, rig.trans], "lr": cfg.lrs["pose"]},
        {"params": [rig.points], "lr": cfg.lrs["points"]},
    ])
    trace = []
    for it in range(cfg.iters):
        optimizer.zero_grad(set_to_none=True)
        error = rig() - uv
        loss = nn.functional.huber_loss(error[visible], torch.zeros_like(error[visible]), delta=cfg.huber) * 1e3
        loss.backward()
        optimizer.step()
        trace.append(error[visible].detach().norm(dim=-1).mean().item())
    return trace


if __name__ == "__main__":
    torch.manual_seed(17)
    trace = adjust(BAConfig())
    print("mean reprojection error: %.4f -> %.4f" % (trace[0], trace[-1]))
