"""Drift of clouds between two satellite images: dense, from coarse to fine, by plain descent."""
import math

import torch
import torch.nn.functional as F

LEVELS = 3
STEPS = 30


def sky(h, w, shift=(0.0, 0.0), seed=0):
    """A few soft clouds on a dark sea, all moved by `shift` pixels."""
    gen = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.arange(h).float(), torch.arange(w).float(), indexing="ij")
    image = torch.zeros(h, w)
    for _ in range(14):
        cy, cx = (torch.rand(2, generator=gen) * torch.tensor([h, w])).tolist()
        size = 3 + 5 * torch.rand((), generator=gen).item()
        d2 = (y - cy - shift[0]) ** 2 + 0.5 * (x - cx - shift[1]) ** 2
        image += torch.exp(-d2 / (2 * size ** 2))
    return image.clamp(max=1.5)[None, None]


def pyramid(image, levels):
    out = [image]
    for _ in range(levels - 1):
        out.append(F.avg_pool2d(out[-1], 2))
    return out[::-1]


def warp(image, flow):
    _, _, h, w = image.shape
    y, x = torch.meshgrid(torch.arange(h).float(), torch.arange(w).float(), indexing="ij")
    gx = 2 * (x + flow[:, 1]) / (w - 1) - 1
    gy = 2 * (y + flow[:, 0]) / (h - 1) - 1
    return F.grid_sample(image, torch.stack([gx, gy], -1), padding_mode="border", align_corners=True)


def charbonnier(d, eps=1e-3):
    return torch.sqrt(d * d + eps * eps).mean()


def roughness(flow):
    return (flow[..., 1:, :] - flow[..., :-1, :]).pow(2).mean() + (flow[..., 1:] - flow[..., :-1]).pow(2).mean()


def descend(flow, before, after, lr, steps, alpha=0.4, momentum=0.9):
    """Heavy-ball descent on one level; returns the flow and the last energy."""
    pixels = flow.shape[-1] * flow.shape[-2]
    speed = torch.zeros_like(flow)
    for _ in range(steps):
        energy = charbonnier(warp(after, flow) - before) + alpha * roughness(flow)
        energy.backward()
        if flow.grad is None:
            continue
        speed = momentum * speed - lr * pixels * (0.1 * flow.grad)
        with torch.no_grad():
            flow += speed
            flow.grad.zero_()
    return flow, energy.item()


def estimate(before, after):
    firsts, seconds = pyramid(before, LEVELS), pyramid(after, LEVELS)
    flow = torch.zeros(1, 2, *firsts[0].shape[-2:], requires_grad=True)
    for level, (a, b) in enumerate(zip(firsts, seconds)):
        if level > 0:
            flow = 2 * F.interpolate(flow, size=a.shape[-2:], mode="bilinear", align_corners=False)
        flow, energy = descend(flow, a, b, lr=0.5, steps=STEPS)
        speed = flow.detach().pow(2).sum(1).sqrt().mean().item()
        print(f"level {level} {tuple(a.shape[-2:])}: energy {energy:.4f}, mean drift {speed:.2f} px")
    return flow


def main():
    torch.manual_seed(4)
    moved = (1.5, 3.0)
    before, after = sky(48, 64), sky(48, 64, shift=moved)
    flow = estimate(before, after).detach()
    core = flow[0, :, 8:-8, 8:-8].mean((1, 2)).tolist()
    angle = math.degrees(math.atan2(core[0], core[1]))
    print(f"drift {core[0]:.2f}, {core[1]:.2f} (moved by {moved}), heading {angle:.0f} degrees")


if __name__ == "__main__":
    main()
