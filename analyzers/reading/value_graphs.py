"""Ask which graphs a value holds, and where they were lost."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.reading.graph import Lost, TapeNode
from analyzers.reading.values import (
    AbstractValue,
    Instance,
    Mapping,
    Sequence,
    Unknown,
)

MAX_PARENTS = 64
_CONTAINERS = frozenset({Sequence, Mapping, Instance})


def parts(value: AbstractValue, depth: int = 4) -> list[AbstractValue]:
    """Return the value and what its containers hold."""
    found = [value]
    for item in _held(value) if depth else ():
        if type(item) in _CONTAINERS:
            found += parts(item, min(depth - 1, 1) if isinstance(value, Instance) else depth - 1)
        else:
            found.append(item)
    return found


def _all_parts(values: Iterable[AbstractValue]) -> list[AbstractValue]:
    found: list[AbstractValue] = []
    for value in values:
        if type(value) in _CONTAINERS:
            found += parts(value)
        else:
            found.append(value)
    return found


def _held(value: AbstractValue) -> Iterable[AbstractValue]:
    if isinstance(value, Sequence):
        return value.items[-MAX_PARENTS:]
    if isinstance(value, Mapping):
        return (*list(value.items.values())[:MAX_PARENTS], *value.rest)
    if isinstance(value, Instance) and value.node is None:
        return list(value.attrs.values())[:MAX_PARENTS]
    return ()


def origins(values: Iterable[AbstractValue]) -> tuple[tuple[TapeNode, ...], tuple[Lost, ...]]:
    """Return the graphs that the values carry, and where others ended; each once."""
    found: dict[TapeNode, None] = {}
    lost: dict[Lost, None] = {}
    for part in _all_parts(values):
        node = part.node
        if node is not None:
            if node.trainable:
                found[node] = None
        elif part.lost is not None:
            lost[part.lost] = None
    return tuple(found)[:MAX_PARENTS], tuple(lost)[:MAX_PARENTS]


def maybe_graph(values: Iterable[AbstractValue]) -> bool:
    """Return True if any of the values may carry a graph."""
    return any(isinstance(part, Unknown) and not part.data for part in _all_parts(values))


def graphs(values: Iterable[AbstractValue]) -> tuple[TapeNode, ...]:
    """Return the graphs that the values carry, each once."""
    return origins(values)[0]


def joined(ended: tuple[Lost, ...]) -> Lost | None:
    """Return several ended graphs as one, named for the first of them."""
    if len(ended) < 2:
        return ended[0] if ended else None
    return Lost(ended[0].op, ended[0].at, (), ended, ended[0].stack)


def lost_by(values: Iterable[AbstractValue]) -> Lost | None:
    """Return where the graphs of values that have none now ended, or None."""
    return joined(origins(values)[1])
