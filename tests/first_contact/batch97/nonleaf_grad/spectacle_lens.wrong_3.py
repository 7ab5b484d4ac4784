"""Freeform correction of a spectacle lens: trace rays, move the surface until they meet.

The front surface is a sphere plus a polynomial in (x, y); rays of several gaze directions should
pass through one point each at the far plane (wavefront error in the classical sense is not used).
"""
import argparse
import math

import torch

INDEX = 1.6
FAR = 500.0  # millimetres


def exponents(order):
    return [(i, n - i) for n in range(2, order + 1) for i in range(n + 1)]


def sag(xy, radius, coeffs, powers, scale=15.0):
    """Height of the surface and its normal (unit, towards the incoming light)."""
    x, y = xy[..., 0], xy[..., 1]
    rho2 = x**2 + y**2
    root = torch.sqrt(radius**2 - rho2)
    height = radius - root
    dx, dy = x / root, y / root
    for c, (i, j) in zip(coeffs, powers):
        u, v = x / scale, y / scale
        height = height + c * u**i * v**j
        dx = dx + (c * i * u ** (i - 1) * v**j / scale if i else 0.0)
        dy = dy + (c * j * u**i * v ** (j - 1) / scale if j else 0.0)
    normal = torch.stack([-dx, -dy, torch.ones_like(dx)], -1)
    return height, normal / normal.norm(dim=-1, keepdim=True)


def refract(direction, normal, ratio):
    cosine = -(direction * normal).sum(-1, keepdim=True)
    k = 1 - ratio**2 * (1 - cosine**2)
    return ratio * direction + (ratio * cosine - k.clamp_min(1e-6).sqrt()) * normal


def pupil(rings, arms, radius=2.0):
    r = torch.linspace(radius / rings, radius, rings)[:, None]
    a = torch.arange(arms) * (2 * math.pi / arms)
    return torch.stack([r * torch.cos(a), r * torch.sin(a)], -1).reshape(-1, 2)


def gazes(field, count):
    """Where the line of sight crosses the lens, and the direction it looks to."""
    angle = torch.arange(count) * (2 * math.pi / count)
    tilt = math.radians(field)
    at = 25.0 * math.tan(tilt) * torch.stack([torch.cos(angle), torch.sin(angle)], 1)
    look = torch.stack([math.sin(tilt) * torch.cos(angle), math.sin(tilt) * torch.sin(angle),
                        torch.full_like(angle, -math.cos(tilt))], 1)
    return at, look


def spots(at, look, rays, coeffs, powers, args):
    """Where the rays of every gaze land in the far plane."""
    xy = at[:, None] + rays[None]
    height, normal = sag(xy, args.front, coeffs, powers)
    inside = refract(look[:, None].expand_as(normal), normal, 1 / INDEX)
    down = torch.tensor([0.0, 0.0, 1.0]).expand_as(normal)
    leaving = refract(inside, down, INDEX)
    path = (FAR + height) / -leaving[..., 2]
    return xy + path[..., None] * leaving[..., :2]


def blur(landed):
    return (landed - landed.mean(1, keepdim=True)).square().sum(-1).mean(1)


def design(args):
    torch.manual_seed(args.seed)
    powers = exponents(args.order)
    bumps = torch.randn(len(powers), requires_grad=True)
    coeffs = 1e-3 * bumps
    optimizer = torch.optim.Adam([bumps], lr=args.lr)
    rays = pupil(3, 8)
    fields = [gazes(field, 8) for field in args.fields]
    best, kept = math.inf, None
    for step in range(args.steps):
        optimizer.zero_grad()
        each = torch.stack([blur(spots(at, look, rays, coeffs, powers, args)).mean()
                            for at, look in fields])
        smooth = args.smooth * coeffs.square().sum()
        loss = each.mean() + smooth
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best, kept = loss.item(), coeffs.detach().clone()
        if step % 10 == 0:
            print(f"{step:3d} " + " ".join(f"{e ** 0.5:.3f}" for e in each.tolist()), "mm")
    return kept, powers


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--front", type=float, default=180.0)
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--fields", type=float, nargs="+", default=[5.0, 15.0, 25.0])
    parser.add_argument("--smooth", type=float, default=1e-2)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=8)
    coeffs, powers = design(parser.parse_args([]))
    for c, (i, j) in zip(coeffs.tolist(), powers):
        print(f"x^{i} y^{j}: {1e3 * c:+8.2f} um")
