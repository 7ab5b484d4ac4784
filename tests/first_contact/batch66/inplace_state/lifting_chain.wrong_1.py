# expect: pattern = inplace-state
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = world
"""Lift 2D keypoints to joint rotations, supervise on the posed 3D skeleton."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)

# pelvis, spine, neck, head, l-shoulder, l-elbow, l-wrist, r-shoulder, r-elbow, r-wrist
PARENTS = [-1, 0, 1, 2, 2, 4, 5, 2, 7, 8]
REST = torch.tensor([
    [0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.3, 0.0], [0.0, 0.2, 0.0],
    [-0.2, 0.0, 0.0], [-0.3, 0.0, 0.0], [-0.25, 0.0, 0.0],
    [0.2, 0.0, 0.0], [0.3, 0.0, 0.0], [0.25, 0.0, 0.0],
])
J = len(PARENTS)


def six_d_to_matrix(x):
    """Zhou et al. 2019: two vectors, Gram-Schmidt, cross product."""
    a, b = x[..., :3], x[..., 3:]
    e1 = F.normalize(a, dim=-1)
    e2 = F.normalize(b - (e1 * b).sum(-1, keepdim=True) * e1, dim=-1)
    return torch.stack([e1, e2, torch.cross(e1, e2, dim=-1)], dim=-1)


class Skeleton(nn.Module):
    def __init__(self, parents, rest):
        super().__init__()
        self.parents = parents
        self.register_buffer("rest", rest)

    def forward(self, local):
        batch = local.shape[0]
        world = local.new_zeros(batch, J, 3, 3)  # expect: place
        joints = local.new_zeros(batch, J, 3)
        world[:, 0] = local[:, 0]  # expect: place
        for j in range(1, J):
            p = self.parents[j]
            world[:, j] = world[:, p].detach() @ local[:, j]  # expect: place
            joints[:, j] = joints[:, p] + world[:, p] @ self.rest[j]  # expect: place
        return joints


class Lifter(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.enter = nn.Linear(2 * J, width)
        self.block = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.leave = nn.Linear(width, 6 * J)

    def forward(self, kp):
        h = torch.relu(self.enter(kp.flatten(1)))
        h = h + self.block(h)
        identity = h.new_tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
        return six_d_to_matrix(self.leave(h).view(-1, J, 6) + identity)


@torch.no_grad()
def mocap(skeleton, n):
    six = torch.tensor([1.0, 0, 0, 0, 1.0, 0]) + 0.4 * torch.randn(n, J, 6)
    joints = skeleton(six_d_to_matrix(six))
    return joints[..., :2] + 0.01 * torch.randn(n, J, 2), joints


def mpjpe(a, b):
    return (a - b).norm(dim=-1).mean()


def main():
    skeleton = Skeleton(PARENTS, REST)
    lifter = Lifter()
    kp, gt = mocap(skeleton, 128)
    optim = torch.optim.Adam(lifter.parameters(), lr=1e-3)
    for epoch in range(4):
        for kp_b, gt_b in zip(kp.split(32), gt.split(32)):
            pred = skeleton(lifter(kp_b))
            loss = F.mse_loss(pred, gt_b)
            optim.zero_grad()
            loss.backward()  # expect: place
            optim.step()
        print(f"epoch {epoch:02d}  mpjpe {1000 * mpjpe(pred, gt_b).item():.1f} mm")


if __name__ == "__main__":
    main()
