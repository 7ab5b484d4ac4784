"""Outlines of flint arrowheads as signed distances at scattered points."""
import torch


def arrowhead(length, width, notch, points):
    """Distance-like field of a kite with a notch in its base; negative inside."""
    x, y = points.unbind(-1)
    edge = width * (length - y) / (2 * length)
    flank = x.abs() - edge
    base = -(y + 0.5 * length) + notch * (1 - x.abs() / width).clamp_min(0)
    return torch.maximum(flank, base).clamp(-0.3, 0.3)


def drawer(n, n_points, generator):
    """A museum drawer: (n, n_points, 2) points and their distances."""
    size = torch.rand(n, 3, generator=generator)
    points = 2 * torch.rand(n, n_points, 2, generator=generator) - 1
    rows = [
        arrowhead(0.6 + 0.4 * a, 0.4 + 0.5 * b, 0.4 * c, pts)
        for (a, b, c), pts in zip(size, points)
    ]
    return points, torch.stack(rows)
