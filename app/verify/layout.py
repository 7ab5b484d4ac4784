"""Compare weights without a counterpart in the other run: split, joined, removed or new."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt

from app.repair.fingerprints import LEAST, TOLERANCE, gap
from app.verify.difference import WHAT, Difference, Kind
from app.verify.moments import Moments, ParameterStep
from sandbox.records import Trace


@dataclass(frozen=True)
class Side:
    """One run, and those of its parameters that learn and that the other run does not have."""

    trace: Trace
    moments: Moments
    alone: Sequence[int]

    @property
    def size(self) -> int:
        """Return the total number of elements of these parameters."""
        latest = {p.id: p for p in self.trace.parameters}
        return sum(prod(latest[p].shape) for p in self.alone if p in latest)

    @property
    def names(self) -> Mapping[int, str]:
        """Return what the script calls each parameter."""
        return {p.id: p.name for p in self.trace.parameters}

    def at(self, k: int) -> list[ParameterStep]:
        """Return the k-th steps of these parameters."""
        return [self.moments[p][k] for p in self.alone if k in self.moments[p]]


def side(trace: Trace, found: Moments, known: Collection[int]) -> Side:
    """Return a run's parameters that are not `known` to the other and that
    get gradients or change.
    """
    alone = [p for p in found if p not in known and any(map(_learns, found[p].values()))]
    return Side(trace, found, alone)


def is_relaid(ours: Side, theirs: Side) -> bool:
    """Return True if the unmatched parameters of both runs have equally many elements."""
    return bool(ours.alone and theirs.alone) and ours.size == theirs.size


def whole(
    ours: Side, theirs: Side, order: Mapping[int, int], tolerance: float, *, held: bool
) -> tuple[int, list[Difference]]:
    """Compare the norms of everything together, which do not depend on how it is laid out; and in
    how many steps. `order` is that of the original's steps, by identity."""
    found: list[Difference] = []
    steps = sorted({k for p in ours.alone for k in ours.moments[p]})
    for k in steps:
        sides = ours.at(k), theirs.at(k)
        if not all(sides):
            continue
        norms: dict[Kind, list[float]] = {
            "gradient": [_norm([m.gradient.norm for m in one]) for one in sides]
        }
        if not held:
            norms["value"] = [
                _norm([v for m in one for v in m.gradient.values[:1]]) for one in sides
            ]
        for kind, (a, b) in norms.items():
            off = abs(a - b) / max(a, b, LEAST)
            if off > tolerance:
                first, other = sides[0][0].step, sides[1][0].step
                at = order.get(id(first), 0)
                found.append(Difference(at, kind, WHAT[kind], "", off, first, other))
    return len(steps), found


def missing(ours: Side, theirs: Side) -> list[Difference]:
    """Return differences for parameters that are gone or new. A parameter that still exists but is
    in no optimizer has lost its training.
    """
    unowned = [o for step in theirs.trace.steps[:1] for o in step.others if o.parameter]
    firsts = {p.id: p.first for p in ours.trace.parameters if p.first}
    found: list[Difference] = []
    for param in ours.alone:
        first = firsts.get(param)
        kept = first is not None and any(gap(first, o.values) < TOLERANCE for o in unowned)
        kind: Kind = "lost" if kept else "parameters"
        what = "is in no optimizer any more" if kept else "is not there any more"
        found.append(Difference(0, kind, what, ours.names.get(param, "")))
    return found + [
        Difference(0, "parameters", "is new", theirs.names.get(p, "")) for p in theirs.alone
    ]


def _learns(moment: ParameterStep) -> bool:
    return moment.gradient.norm > 0 or any(moment.change)


def _norm(parts: Sequence[float]) -> float:
    return sqrt(sum(x * x for x in parts))
