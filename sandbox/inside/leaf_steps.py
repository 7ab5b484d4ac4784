"""The steps of a script with an engine of its own: the gradients that its leaves have gathered when
it writes to them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .frames import Json
from .gradients import fingerprint
from .parameters import Parameters
from .received import Received
from .steps import StepWatch

_Numbers = Mapping[str, Hashable]
_FLOATS = {"<f8": torch.float64, "<f4": torch.float32, "<f2": torch.float16}


@dataclass
class _Leaf:
    """A leaf as a walk left it; `gradients` are the attributes in which walks add up."""

    leaf: Any
    gradients: frozenset[str]
    then: _Numbers


class LeafSteps:
    """Tells, as steps by hand, what leaves hold when the script has updated or cleared them.

    A leaf that the script never writes to, an input or a carried value, is none of its parameters.
    """

    def __init__(self, steps: StepWatch, parameters: Parameters) -> None:
        self._steps = steps
        self._parameters = parameters
        self._leaves: dict[int, _Leaf] = {}
        self._written: set[int] = set()
        self._fed: list[int] = []
        self._at: Json | None = None
        self._received: Received | None = None

    def before(self) -> None:
        """Tell what was gathered, if leaves have been written to since."""
        changed = {n for n, known in self._leaves.items() if self._now(known) != known.then}
        if not changed or self._received is None:
            return
        self._written |= changed
        updated = sum(self._is_updated(self._leaves[n]) for n in changed)
        told = [
            {
                "param": n,
                **fingerprint(_flat([known.then[name] for name in sorted(known.gradients)])),
            }
            for n, known in sorted(self._leaves.items())
            if n in self._written
        ]
        self._parameters.tell()
        self._steps.emit_step(-1, self._at, told, updated, self._fed[-64:])
        self._leaves, self._fed = {}, []

    def after(self, at: Json, n: int, received: Received, fed: Mapping[int, Any]) -> None:
        """Note what the call of that number has given to whom."""
        self._at, self._received = at, received
        self._fed.append(n)
        for number, leaf in fed.items():
            known = self._leaves.get(number)
            gathered = known.gradients if known is not None else frozenset()
            names = gathered | received.gradients(leaf)
            self._leaves[number] = _Leaf(leaf, names, received.numbers(leaf))

    def finish(self) -> None:
        """Tell what was gathered last."""
        self.before()

    def _now(self, known: _Leaf) -> _Numbers:
        assert self._received is not None
        return self._received.numbers(known.leaf)

    def _is_updated(self, known: _Leaf) -> bool:
        now = self._now(known)
        return any(now.get(n) != known.then[n] for n in known.then.keys() - known.gradients)


def _flat(values: list[Any]) -> torch.Tensor:
    """The numbers in what `Received` reads, in a row."""
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
