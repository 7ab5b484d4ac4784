"""Compare buffers, and parameters that no optimizer owns: batch norm
statistics, target networks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from app.repair.fingerprints import TOLERANCE, gap
from sandbox.records import Step, UntrainedTensor

Found = tuple[str, str, float | None]  # name, difference, size of the difference
BUDGET = 200_000  # pairs that are compared of one run: records are hostile


class Buffers:
    """Knows which of the original's change as it runs: these are kept for something."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._moving = _moving(steps)
        self._left = BUDGET

    def differ(
        self, ours: Sequence[UntrainedTensor], theirs: Sequence[UntrainedTensor], tolerance: float
    ) -> Found | None:
        """Return the first buffer that holds another value, or that changes and is gone; None if
        there is none. Buffers are matched by shape and value, because modules and names may differ.
        """
        others = _by_shape(theirs)
        for shape, mine in _by_shape(ours).items():
            apart, left = _apart(mine, others.get(shape, []), tolerance)
            for n, one in enumerate(apart):
                self._left -= len(left)
                if self._left < 0:
                    return one.name, "holds another value, among too many to match", None
                nearest = min(left, key=lambda o: gap(one.values, o.values), default=None)
                off = None if nearest is None else gap(one.values, nearest.values)
                if nearest is not None and off is not None and off <= tolerance:
                    left.remove(nearest)
                elif off is not None and len(left) >= len(apart) - n:
                    return one.name, "holds another value", off
                elif (one.name, shape) in self._moving:
                    return one.name, "is not kept any more, or holds another value", off
        return None


def _apart(
    mine: Sequence[UntrainedTensor], theirs: Sequence[UntrainedTensor], tolerance: float
) -> tuple[list[UntrainedTensor], list[UntrainedTensor]]:
    """Return the entries that differ from the one at the same position, and their possible
    counterparts.
    """
    pairs = list(zip(mine, theirs, strict=False))
    alike = [gap(a.values, b.values) <= tolerance for a, b in pairs]
    return (
        [a for (a, _), same in zip(pairs, alike, strict=True) if not same] + [*mine[len(pairs) :]],
        [b for (_, b), same in zip(pairs, alike, strict=True) if not same]
        + [*theirs[len(pairs) :]],
    )


def _by_shape(listed: Iterable[UntrainedTensor]) -> dict[tuple[int, ...], list[UntrainedTensor]]:
    found: dict[tuple[int, ...], list[UntrainedTensor]] = defaultdict(list)
    for one in listed:
        if one.values:
            found[tuple(one.shape)].append(one)
    return found


def _moving(steps: Sequence[Step]) -> set[tuple[str, tuple[int, ...]]]:
    """Return names and shapes of the entries that change from step to step."""
    first: dict[int, UntrainedTensor] = dict(enumerate(steps[0].others)) if steps else {}
    return {
        (one.name, tuple(one.shape))
        for step in steps[1:]
        for n, one in enumerate(step.others)
        if n in first and first[n].name == one.name and gap(first[n].values, one.values) > TOLERANCE
    }
