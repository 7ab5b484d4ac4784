"""Camber of a sail from photographs of its stripes, with the length of the cloth kept.

The cross-section is a spline through control points. The fit is by L-BFGS, the length of the cloth
is an equality constraint and goes in by an augmented Lagrangian: the multiplier moves between the
sweeps, and the tolerance gets stricter as it converges.
"""
from dataclasses import dataclass

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


def bernstein(count, at):
    """Values of the Bernstein polynomials at the parameters `at`."""
    n = count - 1
    binomial = torch.tensor([float(np.prod([(n - j) / (j + 1) for j in range(k)])) for k in range(count)])
    k = torch.arange(count)
    return binomial * at[:, None] ** k * (1 - at[:, None]) ** (n - k)


class Stripe(torch.nn.Module):
    """One horizontal stripe: from the mast at (0, 0) to the leech, wherever this is."""

    def __init__(self, inner=5, chord=3.0):
        super().__init__()
        x = torch.linspace(0, chord, inner + 2)[1:]
        self.free = torch.nn.Parameter(torch.stack([x, 0.05 * torch.ones_like(x)], 1))
        self.register_buffer("mast", torch.zeros(1, 2))
        self.register_buffer("dense", bernstein(inner + 2, torch.linspace(0, 1, 60)))

    def curve(self):
        return self.dense @ torch.cat([self.mast, self.free])

    def length(self):
        return (self.curve().diff(dim=0).square().sum(1) + 1e-12).sqrt().sum()

    def bending(self):
        return self.curve().diff(n=2, dim=0).square().sum()


@dataclass
class Photo:
    points: torch.Tensor
    cloth: float

    @classmethod
    def taken(cls, rng, cloth=3.2, dots=40):
        x = np.linspace(0, 2.95, 400)
        y = 0.38 * np.sin(np.pi * (x / 2.95) ** 0.8)
        arc = np.concatenate([[0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        at = np.sort(rng.uniform(0, arc[-1], dots))
        seen = np.stack([np.interp(at, arc, x), np.interp(at, arc, y)], 1)
        return cls(torch.tensor(seen + rng.normal(0, 0.02, seen.shape)), float(arc[-1]))


def distance(curve, points, soft=0.02):
    """Smooth distance of every dot to the curve."""
    gap = (points[:, None] - curve[None]).square().sum(-1)
    return -soft * torch.logsumexp(-gap / soft, 1).mean()


def fit(stripe, photo, sweeps=7, rho=5.0):
    multiplier = torch.zeros(())
    optimizer = torch.optim.LBFGS(stripe.parameters(), max_iter=10, history_size=8,
                                  line_search_fn="strong_wolfe")
    log = []
    for sweep in range(sweeps):
        calls = 0

        def closure():
            nonlocal calls
            calls += 1
            optimizer.zero_grad()
            excess = stripe.length() - photo.cloth
            loss = (distance(stripe.curve(), photo.points) + 1e-2 * stripe.bending()
                    + multiplier * excess + 0.5 * rho * excess**2)
            loss.backward()
            return loss

        first = optimizer.step(closure)
        with torch.no_grad():
            excess = stripe.length() - photo.cloth
            multiplier += rho * excess
        log.append(abs(excess.item()))
        if sweep and log[-1] > 0.5 * log[-2]:
            rho *= 2.0
        print(f"sweep {sweep}: {calls:2d} calls, began at {first.item():.5f}, cloth off by "
              f"{1000 * excess.item():+.2f} mm, multiplier {multiplier.item():+.4f}, rho {rho:g}")
    return log


def camber(stripe):
    points = stripe.curve().detach().numpy()
    end = points[-1]
    normal = np.array([-end[1], end[0]]) / np.hypot(*end)
    depth = points @ normal
    return depth.max() / np.hypot(*end), points[depth.argmax(), 0] / end[0]


if __name__ == "__main__":
    rng = np.random.default_rng(26)
    photo, stripe = Photo.taken(rng), Stripe()
    print("before: camber %.3f at %.2f of the chord" % camber(stripe))
    fit(stripe, photo)
    print("after:  camber %.3f at %.2f of the chord" % camber(stripe))
