"""Match the parameters of one run to those of another: by shape and first values, never by name or
order alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from app.repair.fingerprints import gap, gradient_gap
from sandbox.records import Gradient, Parameter, Trace

ALIKE = 1e-5  # relative gap between first values that counts as equal
MOST = 64  # parameters of one shape that are compared pairwise; beyond it, names decide


@dataclass(frozen=True)
class _Side:
    """The parameters of one run, the first gradient that each got, and the largest norm in that
    step.
    """

    parameters: Mapping[int, Parameter]
    first: Mapping[int, tuple[Gradient, float]] = field(default_factory=dict)


def matched(reference: Trace, candidate: Trace) -> dict[int, int]:
    """Return the candidate's parameters by the reference's numbers.

    Parameters of equal shape and first values are the same. If several begin alike (biases of
    zeros), their first gradients decide, then their names. A parameter that begins with other
    values is matched by name, then by its position among those of its shape. Leaves that come and
    go (inputs) are matched in the order in which they appeared.
    """
    ours, theirs = _side(reference), _side(candidate)
    number: dict[int, int] = {}
    shapes = _by_shape(theirs)
    for shape, mine in _by_shape(ours).items():
        number |= _paired(ours, mine, theirs, shapes.get(shape, []))
    return number | _passing(ours, theirs, number)


def _side(trace: Trace) -> _Side:
    first: dict[int, tuple[Gradient, float]] = {}
    for step in trace.steps:
        largest = max((g.norm for g in step.gradients), default=0.0)
        for gradient in step.gradients:
            if gradient.norm > 0:
                first.setdefault(gradient.param, (gradient, largest))
    return _Side({p.id: p for p in trace.parameters}, first)


def _by_shape(side: _Side) -> dict[tuple[int, ...], list[Parameter]]:
    """Return by shape, in the order of their numbers, the parameters that have a name or an
    optimizer.
    """
    found: dict[tuple[int, ...], list[Parameter]] = defaultdict(list)
    for _, parameter in sorted(side.parameters.items()):
        if parameter.name or parameter.optimizer is not None:
            found[tuple(parameter.shape)].append(parameter)
    return found


def _paired(
    ours: _Side, mine: list[Parameter], theirs: _Side, others: list[Parameter]
) -> dict[int, int]:
    """Match the parameters of one shape, best pairs first."""
    if max(len(mine), len(others)) > MOST:
        return _by_name(mine, others)
    scored = sorted(
        (_score(ours, one, theirs, other, abs(i - j)), other.id, one.id)
        for i, one in enumerate(mine)
        for j, other in enumerate(others)
        if not _strangers(one, other)
    )
    return _chosen((theirs_id, ours_id) for _, theirs_id, ours_id in scored)


def _score(
    ours: _Side, one: Parameter, theirs: _Side, other: Parameter, places: int
) -> tuple[bool, bool, bool, int]:
    """Return the score of a pair, less is better: other values, other first gradient, other name,
    distance in order.
    """
    apart = _differ(one, other)
    return apart, not apart and _fed_apart(ours, one, theirs, other), one.name != other.name, places


def _differ(one: Parameter, other: Parameter) -> bool:
    return not (one.first and other.first) or gap(one.first, other.first) > ALIKE


def _fed_apart(ours: _Side, one: Parameter, theirs: _Side, other: Parameter) -> bool:
    a, b = ours.first.get(one.id), theirs.first.get(other.id)
    if a is None or b is None:
        return a is not b
    return gradient_gap(a[0], b[0], max(a[1], b[1])) > ALIKE


def _strangers(one: Parameter, other: Parameter) -> bool:
    """Return True if nothing supports a pair: other values, another name, and not both in an
    optimizer.
    """
    owned = one.optimizer is not None and other.optimizer is not None
    return not owned and one.name != other.name and _differ(one, other)


def _by_name(mine: list[Parameter], others: list[Parameter]) -> dict[int, int]:
    """Match many parameters of one shape: by values that are unique, by name, the rest in order."""
    held, named = _unique(mine), {one.name: one.id for one in mine if one.name}
    values = [(ident, held[first]) for first, ident in _unique(others).items() if first in held]
    names = [(other.id, named[other.name]) for other in others if other.name in named]
    number = _chosen([*values, *names])
    rest = [one.id for one in mine if one.id not in number.values()]
    left = [other.id for other in others if other.id not in number]
    return number | dict(zip(left, rest, strict=False))


def _unique(parameters: list[Parameter]) -> dict[tuple[float, ...], int]:
    counts = Counter(tuple(p.first) for p in parameters if p.first)
    return {tuple(p.first): p.id for p in parameters if counts[tuple(p.first)] == 1}


def _chosen(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    number: dict[int, int] = {}
    taken: set[int] = set()
    for theirs_id, ours_id in pairs:
        if theirs_id not in number and ours_id not in taken:
            number[theirs_id] = ours_id
            taken.add(ours_id)
    return number


def _passing(ours: _Side, theirs: _Side, number: Mapping[int, int]) -> dict[int, int]:
    """Match leaves that no optimizer owns and that are not matched yet, by their number of
    elements.
    """
    mine, others = _unowned(ours, set(number.values())), _unowned(theirs, number)
    found: dict[int, int] = {}
    for size in mine.keys() & others.keys():
        found |= dict(zip(others[size], mine[size], strict=False))
    return found


def _unowned(side: _Side, known: Collection[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for p in side.parameters.values():
        if p.optimizer is None and p.id not in known:
            found[prod(p.shape)].append(p.id)
    return found
