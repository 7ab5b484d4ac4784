"""Find parameters that lose their gradient later in a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from itertools import groupby, pairwise, takewhile
from math import isfinite

from app.repair.effects import paired, unread
from sandbox.records import Step, Trace

ROUNDING = 1e-6  # of a step's largest gradient, in single precision


def loses_gradients_late(
    reference: Trace, candidate: Trace, foreign: Set[int] = frozenset()
) -> str:
    """Describe parameters that get no gradient from some step on although the reference still gives
    them one; return an empty string if there are none. Parameters in `foreign` got gradients that
    were not their own.
    """
    late = _lost_later(reference, candidate, foreign)
    if late is None:
        return ""
    names = {p.id: p.name or f"parameter {p.id}" for p in candidate.parameters}
    return f"no gradient from step {late[0]} on: {some(late[1], names)}"


def _lost_later(
    reference: Trace, candidate: Trace, foreign: Set[int]
) -> tuple[int, set[int]] | None:
    """Return the first step from which parameters lack a gradient that the reference gives them,
    for longer than ever before, and these parameters. A single step proves little: a gradient may
    happen to be zero.
    """
    inputs = inputs_in(reference) | unread(reference) | rounding(reference) | foreign
    fed: dict[int, list[tuple[int, bool]]] = defaultdict(list)
    for ours, theirs in paired(reference, candidate):
        if ours.gradients and theirs.gradients:
            kept = with_gradient(theirs)
            for param in with_gradient(ours) - inputs:
                fed[param].append((ours.n, param in kept))
    lost: dict[int, set[int]] = defaultdict(set)
    for param, steps in fed.items():
        tail = list(takewhile(lambda step: not step[1], reversed(steps)))
        gaps = [len(list(run)) for has, run in groupby(has for _, has in steps) if not has]
        longest = max(gaps[:-1] if tail else gaps, default=0)
        if len(tail) > max(longest, 1) or (tail and len(steps) <= 2):
            lost[tail[-1][0]].add(param)
    return (min(lost), lost[min(lost)]) if lost else None


def carries(reference: Trace) -> bool:
    """Return True if some call reaches a larger graph than an earlier call from the same line:
    values are carried between iterations, so that cutting them drops what the first was made of. A
    value that is made once and used in every iteration enlarges no call.
    """
    lines: dict[tuple[str, int], list[int]] = defaultdict(list)
    for record in reference.backwards:
        lines[record.call.at.file, record.call.at.line].append(record.nodes)
    return any(a < b for nodes in lines.values() for a, b in pairwise(nodes))


def inputs_in(trace: Trace) -> set[int]:
    """Return the leaves that come and go: no optimizer owns them and nothing names them."""
    return {p.id for p in trace.parameters if p.optimizer is None and not p.name}


def with_gradient(step: Step) -> set[int]:
    return {g.param for g in step.gradients if not g.none and g.norm > 0}


def rounding(trace: Trace) -> set[int]:
    """Return the parameters whose gradients never exceed the rounding of zero, relative to the
    largest of their step. An example is the bias before a softmax, whose true gradient is zero.
    """
    met, reported = set[int](), set[int]()
    for step in trace.steps:
        finite = [g.norm for g in step.gradients if isfinite(g.norm)]
        for g in step.gradients:
            is_small = isfinite(g.norm) and g.norm <= ROUNDING * max(finite)
            (met if is_small else reported).add(g.param)
    return met - reported


def some(params: Iterable[int], names: Mapping[int, str]) -> str:
    listed = sorted(names.get(p, str(p)) for p in params)
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")
