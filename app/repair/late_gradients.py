"""Find parameters that lose their gradient later in a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import groupby, pairwise, takewhile
from math import isfinite

from analyzers.explain.listed import some
from app.repair.effects import paired, unread
from sandbox.records import Gradient, Step, Trace

ROUNDING = 1e-6  # of a step's largest gradient, in single precision
LITTLE = 0.01  # of a norm
STEADY = 3  # different gradients of one direction that are no rounding
ALIKE = 1.5  # the largest of their norms, as a multiple of the smallest


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
    return f"no gradient from step {late[0]} on: {named(late[1], names)}"


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
    What is as small, but of one direction and size in steps with different data, is a gradient,
    which an optimizer such as Adam scales.
    """
    met, reported = set[int](), set[int]()
    small: dict[int, dict[float, tuple[int, ...]]] = defaultdict(dict)
    for step in trace.steps:
        finite = [g.norm for g in step.gradients if isfinite(g.norm)]
        for g in step.gradients:
            is_small = isfinite(g.norm) and g.norm <= ROUNDING * max(finite)
            (met if is_small else reported).add(g.param)
            if is_small and g.norm > 0:
                small[g.param][g.norm] = tuple(_direction(g))
    return met - reported - {p for p, each in small.items() if _is_steady(each)}


def _is_steady(directions: Mapping[float, tuple[int, ...]]) -> bool:
    """Return True if enough gradients, by their norms, have one direction and about one size."""
    if len(directions) < STEADY or len({*directions.values()}) > 1:
        return False
    return max(directions) < ALIKE * min(directions)


def _direction(gradient: Gradient) -> Iterator[int]:
    """Yield the signs of a gradient's projections, 0 for what is little of it."""
    for value in gradient.projections:
        yield (value > LITTLE * gradient.norm) - (value < -LITTLE * gradient.norm)


def named(params: Iterable[int], names: Mapping[int, str]) -> str:
    """Return the first names of parameters, which are given by their ids."""
    return some(sorted(names.get(p, str(p)) for p in params))
