"""Mortar joints of a brick wall on photographs from a lift, found by a small residual net; thrifty with memory."""
import copy

import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.b = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        h = F.relu_(self.norm(self.a(x)))
        h = self.b(h)
        h += x
        return h.relu_()


class Joints(nn.Module):
    def __init__(self, width=8, blocks=2):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, wall):
        h = self.stem(wall).relu_()
        return self.out(self.blocks(h)).squeeze(1)


class Average:
    """Slow copy of the weights, used for the maps that are shown."""

    def __init__(self, net, decay=0.6):
        self.net, self.decay = copy.deepcopy(net).requires_grad_(False).eval(), decay

    @torch.no_grad()
    def follow(self, net):
        for slow, fast in zip(self.net.parameters(), net.parameters()):
            slow.lerp_(fast, 1 - self.decay)
        for slow, fast in zip(self.net.buffers(), net.buffers()):
            slow.copy_(fast)


def walls(n, seed, side=16):
    g = torch.Generator().manual_seed(seed)
    joints = torch.zeros(n, side, side)
    for k in range(n):
        step = int(torch.randint(4, 7, (1,), generator=g))
        first = int(torch.randint(0, step, (1,), generator=g))
        joints[k, first::step] = 1.0
        joints[k, :, first::step] = 1.0
    brick = torch.rand(n, side, side, generator=g)
    image = brick * (1 - joints) * 0.5 + 0.7 * joints
    image += 0.15 * torch.randn(n, side, side, generator=g)
    worn = torch.rand(n, side, side, generator=g) < 0.05
    image[worn] = 0.0
    return image.unsqueeze(1), joints, ~worn


def dice(net, image, joints, seen):
    with torch.no_grad():
        hit = (net(image) > 0).float()
        hit *= seen
    return (2 * (hit * joints).sum() / (hit.sum() + (joints * seen).sum())).item()


def main():
    torch.manual_seed(50)
    net = Joints()
    slow = Average(net)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    image, joints, seen = walls(80, 1)
    held = walls(30, 2)
    for epoch in range(4):
        for rows in torch.randperm(len(image)).split(16):
            each = F.binary_cross_entropy_with_logits(net(image[rows]), joints[rows], reduction="none")
            each *= seen[rows]
            loss = each.sum() / seen[rows].sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            slow.follow(net)
        print(f"epoch {epoch}: loss {loss.item():.4f}, dice of the slow net {dice(slow.net, *held):.3f}")


if __name__ == "__main__":
    main()
