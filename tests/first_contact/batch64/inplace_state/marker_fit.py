# expect: pattern = inplace-state
# expect: also = inplace-activation
# expect: raises = RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation
# expect: carrier = world_rot, world_pos
# Fit joint rotations of a stick figure to mocap markers (frames at 30 Hz).
import numpy as np
import torch

JOINTS = ["pelvis", "spine", "chest", "head", "l_shoulder", "l_elbow", "l_wrist",
          "r_shoulder", "r_elbow", "r_wrist", "l_hip", "l_knee", "l_ankle", "r_hip", "r_knee", "r_ankle"]
PARENT = [-1, 0, 1, 2, 2, 4, 5, 2, 7, 8, 0, 10, 11, 0, 13, 14]
BONE = torch.tensor([
    [0.00, 0.00, 0.0], [0.00, 0.20, 0.0], [0.00, 0.25, 0.0], [0.00, 0.25, 0.0],
    [0.18, 0.15, 0.0], [0.28, 0.00, 0.0], [0.25, 0.00, 0.0],
    [-0.18, 0.15, 0.0], [-0.28, 0.00, 0.0], [-0.25, 0.00, 0.0],
    [0.10, -0.05, 0.0], [0.00, -0.42, 0.0], [0.00, -0.40, 0.0],
    [-0.10, -0.05, 0.0], [0.00, -0.42, 0.0], [0.00, -0.40, 0.0]])


def rodrigues(axis_angle):
    """(..., 3) -> (..., 3, 3)"""
    angle = (axis_angle.square().sum(-1, keepdim=True) + 1e-8).sqrt()
    x, y, z = (axis_angle / angle).unbind(-1)
    zero = torch.zeros_like(x)
    k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(*x.shape, 3, 3)
    s, c = angle[..., None].sin(), angle[..., None].cos()
    return torch.eye(3) + s * k + (1 - c) * (k @ k)


def forward_kinematics(pose, root):
    """pose (T, J, 3) axis-angle, root (T, 3) -> world positions (T, J, 3)"""
    n_frames, n_joints, _ = pose.shape
    local = rodrigues(pose)
    world_rot = torch.zeros(n_frames, n_joints, 3, 3)  # expect: place
    world_pos = torch.zeros(n_frames, n_joints, 3)
    for j in range(n_joints):
        p = PARENT[j]
        if p < 0:
            world_rot[:, j] = local[:, j]  # expect: place
            world_pos[:, j] = root
        else:
            world_rot[:, j] = world_rot[:, p] @ local[:, j]  # expect: place
            world_pos[:, j] = world_pos[:, p] + world_rot[:, p] @ BONE[j]  # expect: place
    return world_pos


def walking(n_frames):
    t = np.arange(n_frames) / 30.0
    swing = np.sin(2 * np.pi * 1.1 * t)
    pose = np.zeros((n_frames, len(JOINTS), 3), dtype=np.float32)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        pose[:, JOINTS.index(side + "_hip"), 0] = 0.5 * sign * swing
        pose[:, JOINTS.index(side + "_knee"), 0] = 0.4 * np.clip(-sign * swing, 0, None)
        pose[:, JOINTS.index(side + "_shoulder"), 2] = -1.2 * sign + 0.1 * swing
        pose[:, JOINTS.index(side + "_shoulder"), 0] = -0.4 * sign * swing
    pose[:, 1, 1] = 0.1 * swing
    root = np.stack([0.0 * t, 0.95 + 0.02 * np.abs(swing), 1.2 * t], 1).astype(np.float32)
    return torch.from_numpy(pose), torch.from_numpy(root)


torch.manual_seed(0)
with torch.no_grad():
    markers = forward_kinematics(*walking(24))
    markers += 0.005 * torch.randn_like(markers)
seen = torch.rand(markers.shape[:2]) > 0.1        # occluded markers

pose = torch.zeros(24, len(JOINTS), 3, requires_grad=True)
root = markers[:, 0].clone().requires_grad_(True)
optimizer = torch.optim.Adam([pose, root], lr=0.03)

for it in range(20):
    optimizer.zero_grad()
    joints = forward_kinematics(pose, root)  # expect: place
    data = ((joints - markers).square().sum(-1) * seen).sum() / seen.sum()
    smooth = (pose[2:] - 2 * pose[1:-1] + pose[:-2]).square().mean()
    loss = data + 0.01 * smooth + 1e-4 * pose.square().mean()
    loss.backward()  # expect: place
    optimizer.step()
    if it % 5 == 4:
        print(f"iter {it + 1}: marker error {data.item() ** 0.5 * 100:.2f} cm")
