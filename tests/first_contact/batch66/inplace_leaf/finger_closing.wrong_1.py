# expect: pattern = inplace-leaf
# expect: raises = RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation
# expect: carrier = pose, joints
"""Grasp synthesis: close a planar three-finger hand on a disc by gradient descent on the pose.

pose = (x, y, cos, sin, six joint angles), one row a candidate grasp.
"""
import math

import torch

LINK = 0.45
RADIUS = 0.35
JOINT_LOW, JOINT_HIGH = -0.2, 1.3
BASES = torch.tensor([[-0.3, 0.0], [0.0, 0.0], [0.3, 0.0]])
SPREAD = torch.tensor([0.35, 0.0, -0.35])


def finger_tips(pose):
    xy, heading, joints = pose[:, :2], pose[:, 2:4], pose[:, 4:].view(-1, 3, 2)
    q1 = joints[..., 0] + SPREAD + math.pi / 2
    q2 = q1 - joints[..., 1]
    local = BASES + LINK * torch.stack([q1.cos(), q1.sin()], -1) + LINK * torch.stack([q2.cos(), q2.sin()], -1)
    c, s = heading[:, :1], heading[:, 1:]
    x = c * local[..., 0] - s * local[..., 1]
    y = s * local[..., 0] + c * local[..., 1]
    return torch.stack([x, y], -1) + xy[:, None]


def energy(pose, weights):
    tips = finger_tips(pose)
    dist = tips.norm(dim=-1)
    contact = (dist - RADIUS).abs().sum(1)
    inside = (RADIUS - dist).clamp(min=0).pow(2).sum(1)
    # force closure proxy: contact normals should cancel out
    closure = (tips / dist[..., None]).sum(1).pow(2).sum(-1)
    return weights["contact"] * contact + weights["closure"] * closure + weights["inside"] * inside


def keep_heading_unit(pose):
    with torch.no_grad():
        pose[:, 2:4] /= pose[:, 2:4].norm(dim=1, keepdim=True)


def respect_joint_limits(pose):
    joints = pose[:, 4:]
    joints = joints.clamp(JOINT_LOW, JOINT_HIGH)  # expect: place


def initial_poses(n):
    angle = torch.rand(n) * 0.6 - 0.3
    xy = torch.stack([0.1 * torch.randn(n), -0.8 + 0.1 * torch.randn(n)], 1)
    joints = 0.4 + 0.3 * torch.randn(n, 6)
    return torch.cat([xy, angle.cos()[:, None], angle.sin()[:, None], joints], 1)


def synthesise(n=16, iters=80, projections=(keep_heading_unit, respect_joint_limits)):
    weights = {"contact": 1.0, "closure": 0.5, "inside": 10.0}
    pose = initial_poses(n).requires_grad_()
    opt = torch.optim.RMSprop([pose], lr=1e-2)
    for it in range(iters):
        opt.zero_grad()
        e = energy(pose, weights)
        e.sum().backward()
        opt.step()
        for project in projections:
            project(pose)  # expect: place
        if it % 20 == 0:
            print(f"it {it:3d}  best {e.min().item():.4f}  mean {e.mean().item():.4f}")
    return pose.detach(), energy(pose, weights).detach()


if __name__ == "__main__":
    torch.manual_seed(4)
    grasps, final = synthesise()
    best = final.argmin()
    print("best grasp:", [round(v, 3) for v in grasps[best].tolist()])
