"""The steps of a script with an engine of its own: the gradients that its leaves have gathered when
it writes to them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..core.frames import Json
from ..core.parameters import ParameterRegistry
from ..recorders.gradients import fingerprint
from ..recorders.steps import StepWatch
from .instances import Instances
from .received_gradients import ReceivedGradients

_Numbers = Mapping[str, Hashable]
_FLOATS = {"<f8": torch.float64, "<f4": torch.float32, "<f2": torch.float16}


@dataclass
class _LeafState:
    """A leaf as a backward call left it; `gradients` are the attributes that calls add to."""

    leaf: Any
    gradients: frozenset[str]
    then: _Numbers


class LeafSteps:
    """Reports, as steps by hand, what leaves hold when the script has updated or cleared them.

    A leaf that the script never writes to, an input or a carried value, is none of its parameters.
    """

    def __init__(self, steps: StepWatch, parameters: ParameterRegistry) -> None:
        self._steps = steps
        self._parameters = parameters
        self._leaves: dict[int, _LeafState] = {}
        self._written: set[int] = set()
        self._fed: list[int] = []
        self._at: Json | None = None
        self._received: ReceivedGradients | None = None
        self._newest = 0
        self._updated: dict[int, int] = {}  # leaves, by the newest instance from before it

    def before(self) -> None:
        """Tell what was gathered, if leaves have been written to since."""
        changed = {n for n, known in self._leaves.items() if self._now(known) != known.then}
        if not changed or self._received is None:
            return
        self._written |= changed
        updated = [n for n in changed if self._is_updated(self._leaves[n])]
        self._updated |= dict.fromkeys(updated, self._newest)
        gradients = [
            {
                "param": n,
                **fingerprint(flat([known.then[name] for name in sorted(known.gradients)])),
            }
            for n, known in sorted(self._leaves.items())
            if n in self._written
        ]
        self._parameters.tell()
        self._steps.emit_step(-1, self._at, gradients, len(updated), self._fed[-64:])
        self._leaves, self._fed = {}, []

    def after(
        self, at: Json, n: int, received: ReceivedGradients, fed: Mapping[int, Any], newest: int
    ) -> None:
        """Note what the call of that number has given to whom; `newest` is the last instance that
        was made before it ended."""
        self._at, self._received, self._newest = at, received, newest
        self._fed.append(n)
        for number, leaf in fed.items():
            known = self._leaves.get(number)
            gathered = known.gradients if known is not None else frozenset()
            names = gathered | received.gradients(leaf)
            self._leaves[number] = _LeafState(leaf, names, received.numbers(leaf))

    def stale(
        self, nodes: Sequence[Any], instances: Instances, ids: Mapping[int, int]
    ) -> list[Json]:
        """Return leaves that were updated since these nodes were made from them.

        `ids` has the leaves' ids by the number of their making.
        """
        found: dict[int, Json] = {}
        for node in nodes if self._updated else ():
            made = instances.of(node)
            for leaf in instances.parents(node):
                number = ids.get(instances.number(leaf), -1)
                if made is not None and made.number <= self._updated.get(number, 0):
                    found.setdefault(number, {"param": number})
        return list(found.values())[:16]

    def finish(self) -> None:
        """Tell what was gathered last."""
        self.before()

    def _now(self, known: _LeafState) -> _Numbers:
        assert self._received is not None
        return self._received.numbers(known.leaf)

    def _is_updated(self, known: _LeafState) -> bool:
        now = self._now(known)
        return any(now.get(n) != known.then[n] for n in known.then.keys() - known.gradients)


def flat(values: list[Any]) -> torch.Tensor:
    """Return the numbers in what `ReceivedGradients` reads, in a row."""
    row: list[torch.Tensor] = []
    pending = values[::-1]
    while pending:
        value = pending.pop()
        match value:
            case str(kind), bytes(content):
                if content and kind in _FLOATS:
                    row.append(torch.frombuffer(bytearray(content), dtype=_FLOATS[kind]).double())
            case tuple():
                pending += value[::-1]
            case float():
                row.append(torch.tensor([value], dtype=torch.float64))
    return torch.cat(row) if row else torch.zeros(0, dtype=torch.float64)
