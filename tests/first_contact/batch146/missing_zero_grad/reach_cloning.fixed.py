"""Behaviour cloning of a planar reaching arm from small camera images.

The vision encoder gets a lower learning rate and its own schedule.
"""
import math
import random

import torch
import torch.nn.functional as F
from torch import nn, optim

IMG = 16
LINKS = (0.6, 0.4)


def forward_kinematics(q):
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    return torch.stack([LINKS[0] * a.cos() + LINKS[1] * b.cos(),
                        LINKS[0] * a.sin() + LINKS[1] * b.sin()], dim=1)


def expert_action(q, goal):
    """Jacobian-transpose controller."""
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    err = goal - forward_kinematics(q)
    dx = torch.stack([-LINKS[0] * a.sin() - LINKS[1] * b.sin(), -LINKS[1] * b.sin()], dim=1)
    dy = torch.stack([LINKS[0] * a.cos() + LINKS[1] * b.cos(), LINKS[1] * b.cos()], dim=1)
    return torch.clamp(3 * (dx * err[:, :1] + dy * err[:, 1:]), -1, 1)


def render(goal):
    axis = torch.linspace(-1, 1, IMG)
    gy, gx = torch.meshgrid(axis, axis, indexing="ij")
    d2 = (gx - goal[:, 0, None, None]) ** 2 + (gy - goal[:, 1, None, None]) ** 2
    return 3 * torch.exp(-d2 / 0.1).unsqueeze(1)


def collect(n):
    q = (torch.rand(n, 2) * 2 - 1) * math.pi / 2
    goal = forward_kinematics((torch.rand(n, 2) * 2 - 1) * math.pi / 2)
    image = render(goal) + 0.05 * torch.randn(n, 1, IMG, IMG)
    return image, q, goal, expert_action(q, goal)


def build_encoder(out=16):
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * (IMG // 4) ** 2, out))


def build_policy(feat=16):
    return nn.Sequential(nn.Linear(feat + 4, 64), nn.Tanh(), nn.Linear(64, 2), nn.Tanh())


def act(encoder, policy, image, q):
    state = torch.cat([q.cos(), q.sin()], dim=1)
    return policy(torch.cat([encoder(image), state], dim=1))


def minibatches(data, size):
    order = torch.randperm(len(data[0]))
    for i in range(0, len(order), size):
        idx = order[i:i + size]
        yield [d[idx] for d in data]


@torch.no_grad()
def rollout_error(encoder, policy, steps=25, n=32):
    image, q, goal, _ = collect(n)
    for _ in range(steps):
        q = q + 0.2 * act(encoder, policy, image, q)
    return (forward_kinematics(q) - goal).norm(dim=1).mean().item()


def run(epochs=6, batch_size=32, grad_clip=5.0):
    data = collect(384)
    encoder, policy = build_encoder(), build_policy()
    enc_opt = optim.SGD(encoder.parameters(), lr=2e-1, momentum=0.9)
    pol_opt = optim.Adam(policy.parameters(), lr=3e-3)
    enc_sched = optim.lr_scheduler.CosineAnnealingLR(enc_opt, T_max=epochs)

    for epoch in range(epochs):
        running = 0.0
        for image, q, _, action in minibatches(data, batch_size):
            loss = F.mse_loss(act(encoder, policy, image, q), action)
            pol_opt.zero_grad()
            enc_opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), grad_clip)
            pol_opt.step()
            enc_opt.step()
            running += loss.item() * len(image)
        enc_sched.step()
        print(f"[{epoch}] imitation {running / len(data[0]):.4f} reach error {rollout_error(encoder, policy):.3f}")
    return encoder, policy


if __name__ == "__main__":
    random.seed(5)
    torch.manual_seed(5)
    run()
