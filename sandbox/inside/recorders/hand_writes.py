"""Writes into parameters that autograd does not count: through `.data`, or by setting it."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import torch

from ..core.clock import next_number
from ..core.engine import Call
from ..core.parameters import ParameterRegistry, values_of

KEPT, LOOKS = 16, 20_000  # of each parameter, the latest; at all parameters
_tensor: Any = torch.Tensor
_Values = tuple[float, float]


class _Data(property):
    """A property that modes of torch, to which it is handed, know by its name like torch's own."""

    __name__ = "data"


class HandWrites:
    """Takes the place of the attribute `data`, and notes what a parameter held as it was asked for,
    and after which nodes: those used other values if it holds others by the time of a backward."""

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._looks = LOOKS
        self._asked: dict[int, deque[tuple[int, _Values]]] = defaultdict(lambda: deque(maxlen=KEPT))

    def install(self) -> None:
        """Replace torch's own attribute."""
        own = _tensor.data
        read, write, note = own.__get__, own.__set__, self._note

        def get(tensor: torch.Tensor) -> torch.Tensor:
            note(tensor)
            value: torch.Tensor = read(tensor)
            return value

        def put(tensor: torch.Tensor, value: torch.Tensor) -> None:
            note(tensor)
            write(tensor, value)

        _tensor.data = _Data(get, put)

    def _note(self, tensor: torch.Tensor) -> None:
        known = self._parameters.find(tensor)
        if known is None or not self._looks:
            return
        asked, number = self._asked[known.id], next_number()
        if not asked or asked[-1][0] != number:
            self._looks -= 1
            asked.append((number, values_of(tensor)))

    def before(self, call: Call) -> list[int]:
        """Return the parameters that a graph has used before the script gave them other values."""
        found = set[int]()
        for consumer, leaf in call.walk.leaves if self._asked else ():
            known = self._parameters.find(leaf.variable)
            if known is None or known.id not in self._asked or known.id in found:
                continue
            made = consumer._sequence_nr()
            later = [values for number, values in self._asked[known.id] if number > made]
            if later and later[0] != values_of(leaf.variable):
                found.add(known.id)
        return sorted(found)
