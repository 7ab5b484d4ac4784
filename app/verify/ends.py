"""Compare what runs show apart from their steps: number of steps, losses, buffers, final values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from app.repair.fingerprints import gap
from app.verify.buffers import Buffers
from app.verify.difference import Difference, LossGap
from app.verify.moments import numbered, totals
from sandbox.records import Backward, Step, Trace

Pairs = Sequence[tuple[Step, Step]]
Numbers = Mapping[int, int]


def has_ended(trace: Trace) -> bool:
    """Return True if the script ran to its end."""
    return trace.ended is not None and trace.ended.reason == "finished"


def count_gap(one: Trace, other: Trace, number: Numbers) -> tuple[int, str] | None:
    """Return a parameter that took fewer steps in a run that ended, with a message; None if there
    is none.
    """
    ours, theirs = totals(one), totals(other)
    for param, count in ours.items():
        now = theirs.get(number.get(param, -1), count)
        if (has_ended(one) and now > count) or (has_ended(other) and now < count):
            return param, f"{now} steps, where there were {count}"
    return None


def loss_gap(one: Trace, other: Trace, tolerance: float) -> LossGap | None:
    """Return the first pair of backward calls whose losses differ; None if none do or the calls do
    not correspond.
    """
    for a, b in zip(one.backwards, other.backwards, strict=False):
        if a.call.n != b.call.n:
            return None
        if _losses_differ(a, b, tolerance):
            return LossGap(a, b)
    return None


def final_gaps(one: Trace, other: Trace, number: Numbers, tolerance: float) -> Iterator[Difference]:
    """Yield the differences of parameters and buffers after both scripts ran to their ends."""
    if one.final is None or other.final is None or not (has_ended(one) and has_ended(other)):
        return
    theirs = {held.param: held.values for held in other.final.values}
    names = {p.id: p.name for p in one.parameters}
    for held in one.final.values:
        values = theirs.get(number.get(held.param, -1))
        off = gap(held.values, values) if held.values and values else 0.0
        if off > tolerance:
            name = names.get(held.param, "")
            yield Difference(inf, "value", "holds another value", name, off)
    buffers = Buffers([step for _, step in numbered(one)])
    if found := buffers.differ(one.final.others, other.final.others, tolerance):
        name, what, amount = found
        yield Difference(inf, "buffer", what, name, amount)


def buffer_gap(
    one: Trace, pairs: Pairs, order: Mapping[int, int], tolerance: float
) -> Difference | None:
    """Return the first step that begins with another value in a buffer; None if there is none."""
    buffers = Buffers([step for _, step in numbered(one)])
    for ours, theirs in pairs:
        if found := buffers.differ(ours.others, theirs.others, tolerance):
            name, what, off = found
            return Difference(order.get(id(ours), 0), "buffer", what, name, off, ours, theirs)
    return None


def one_to_one(pairs: Pairs) -> list[tuple[Step, Step]]:
    """Return the pairs of steps that have no other counterpart: optimizers were neither joined nor
    split.
    """
    ours, theirs = Counter(id(a) for a, _ in pairs), Counter(id(b) for _, b in pairs)
    return [(a, b) for a, b in pairs if ours[id(a)] == theirs[id(b)] == 1]


def random_from(pairs: Pairs, order: Mapping[int, int]) -> float:
    """Return the order of the first step at which other random numbers had been drawn."""
    return min((order.get(id(a), 0) for a, b in pairs if a.random != b.random), default=inf)


def _losses_differ(a: Backward, b: Backward, tolerance: float) -> bool:
    if a.loss is None or b.loss is None:
        return a.loss is not b.loss
    return abs(a.loss - b.loss) > tolerance * max(abs(a.loss), abs(b.loss), 1e-6)
