"""Compare fingerprints of tensors: their norms and fixed projections."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.records import Gradient

TOLERANCE = 1e-4  # relative to the norm: sums in another order differ by less
IN_DOUBLE = 1e-6  # the same of runs in double precision
SMALL = 1e-3  # of the largest gradient of a step: gradients below count as so large
LEAST = 1e-12


def gap(one: Sequence[float], other: Sequence[float], floor: float = 0.0) -> float:
    """Return the largest difference between two fingerprints (norm first) as a share of the larger
    norm, which counts as at least `floor`. An empty fingerprint is that of zeros.
    """
    size = max(len(one), len(other))
    a, b = one or [0.0] * size, other or [0.0] * size
    norm = max((abs(v[0]) for v in (a, b) if v), default=0.0)
    apart = [abs(x - y) for x, y in zip(a, b, strict=False)]
    return max(apart, default=0.0) / max(norm, floor, LEAST)


def gradient_gap(one: Gradient | None, other: Gradient | None, largest: float) -> float:
    """Return the same for two gradients of one parameter; None is a gradient of zeros. `largest` is
    the norm of the largest gradient in their step.
    """
    return gap(_print(one), _print(other), SMALL * largest)


def _print(gradient: Gradient | None) -> list[float]:
    return [] if gradient is None or gradient.none else [gradient.norm, *gradient.projections]
