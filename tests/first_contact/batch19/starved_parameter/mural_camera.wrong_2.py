"""
Where did the camera stand? Lay photographed corner points of a mural over its survey plan.
One camera per photo: turn (yaw), zoom and shift, and a weight for points that are not on the wall.
"""
import math

import torch
from torch import nn


class Camera(nn.Module):
    def __init__(self):
        super().__init__()
        self.yaw = nn.Parameter(torch.zeros(()))
        self.log_zoom = nn.Parameter(torch.zeros(()))
        self.shift = nn.Parameter(torch.zeros(2))

    def rotation(self):
        c, s = torch.cos(self.yaw), torch.sin(self.yaw)
        return torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).data

    def forward(self, points):
        turned = points @ self.rotation().T
        return self.log_zoom.exp() * turned + self.shift


class Survey(nn.Module):
    def __init__(self, photos, points):
        super().__init__()
        self.cameras = nn.ModuleList(Camera() for _ in range(photos))
        self.trust = nn.Parameter(torch.zeros(photos, points))

    def residual(self, plan, seen):
        off = torch.stack([cam(plan) - pts for cam, pts in zip(self.cameras, seen)])
        return (off.pow(2).sum(-1) + 1e-6).sqrt()

    def loss(self, plan, seen):
        weight = torch.sigmoid(self.trust)
        robust = weight * self.residual(plan, seen)
        return robust.mean() - 0.05 * weight.log().mean()


def shoot(plan, photos):
    seen = []
    for k in range(photos):
        yaw = math.radians(10 + 6 * k)
        R = torch.tensor([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        pts = (1.1 + 0.1 * k) * plan @ R.T + torch.tensor([0.3 * k, -0.2])
        pts[k] += 2.0                               # a point on the scaffold in front
        seen.append(pts + 0.01 * torch.randn_like(pts))
    return torch.stack(seen)


def adjust(survey, plan, seen, steps=60):
    groups = [
        {"params": survey.cameras.parameters(), "lr": 0.05},
        {"params": [survey.trust], "lr": 0.02},
    ]
    optimizer = torch.optim.Adam(groups)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 0.98**k)
    for step in range(steps):
        optimizer.zero_grad()
        loss = survey.loss(plan, seen)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}")


def main():
    torch.manual_seed(2)
    plan = torch.rand(12, 2) * 4 - 2
    seen = shoot(plan, photos=4)
    survey = Survey(4, 12)
    adjust(survey, plan, seen)
    for k, cam in enumerate(survey.cameras):
        print(f"photo {k}: yaw {math.degrees(cam.yaw.item()):6.2f}  zoom {cam.log_zoom.exp().item():.3f}  "
              f"shift {[round(v, 2) for v in cam.shift.tolist()]}")


if __name__ == "__main__":
    main()
