


"""Rigid alignment of partial scans to a template: a PointNet-style regressor and Chamfer distance."""
from typing import NamedTuple

import torch
from torch import nn


class Pose(NamedTuple):
    rotation: torch.Tensor
    shift: torch.Tensor

    def apply(self, points):
        return points @ self.rotation.transpose(1, 2) + self.shift[:, None]


class PoseNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Linear(2 * width, 7)

    def forward(self, scan, template):
        a = self.point(scan).amax(dim=1)
        b = self.point(template).amax(dim=1)
        out = self.head(torch.cat([a, b], dim=-1))
        quat = nn.functional.normalize(out[:, :4] + torch.tensor([2.0, 0, 0, 0]), dim=-1)
        return Pose(quat_to_matrix(quat), out[:, 4:])


def quat_to_matrix(q):
    w, x, y, z = q.unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]
    return torch.stack(rows, dim=-1).view(-1, 3, 3)


def chamfer(a, b):
    d = torch.cdist(a, b)
    return d.amin(dim=0).mean() + d.amin(dim=1).mean()


class ScanMatcher:
    def __init__(self, net, lr=1e-3):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.8)
        self.history = []

    def match(self, scans, templates):
        pose = self.net(scans, templates)
        moved = pose.apply(scans)
        costs = []
        # scans have holes of different size, so the distance is taken cloud by cloud
        for cloud, template, keep in zip(moved, templates, self.visible(scans)):
            cost = chamfer(cloud[keep], template)
            costs.append(cost)
        mean_cost = torch.stack(costs).mean()
        self.opt.zero_grad()
        mean_cost.backward()
        self.opt.step()
        self.history.append(mean_cost.item())

    @staticmethod
    def visible(scans):
        return scans[..., 0] > scans[..., 0].amin(dim=1, keepdim=True) + 0.2


def pairs(n_batches, batch=4, points=40):
    for _ in range(n_batches):
        template = torch.randn(batch, points, 3) * torch.tensor([1.0, 0.5, 0.25])
        angle = 0.4 * torch.randn(batch)
        q = torch.stack([(angle / 2).cos(), 0 * angle, 0 * angle, (angle / 2).sin()], dim=-1)
        yield Pose(quat_to_matrix(q), 0.1 * torch.randn(batch, 3)).apply(template), template


def main():
    torch.manual_seed(23)
    matcher = ScanMatcher(PoseNet())
    for scans, templates in pairs(5):
        matcher.match(scans, templates)
        print(f"chamfer {matcher.history[-1]:.4f}")


main()
