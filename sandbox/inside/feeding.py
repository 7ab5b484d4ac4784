"""Which backward calls the gradients that a parameter holds came from."""

from __future__ import annotations

import torch

from .engine import Call, Observer
from .parameters import Known, Parameters

KEPT = 64  # calls told of one step


class Feeding(Observer):
    """Follows what each parameter was fed since its gradient was last cleared, in whatever way.

    It looks at gradients after `VisitWatch`, which finds who received one.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._fed: dict[int, list[int]] = {}
        self._parts: dict[int, object] = {}  # the tensor that played each parameter's part

    def before(self, call: Call) -> None:
        """Forget what has been cleared."""
        for number in list(self._fed):
            if _is_clear(self._parameters.known[number]):
                del self._fed[number]

    def after(self, call: Call) -> None:
        """Note who was fed. What takes the place of another tensor begins without a gradient."""
        for known in call.received if call.kind == "backward" else ():
            if self._parts.setdefault(known.id, known.tensor) is not known.tensor:
                self._parts[known.id] = known.tensor
                self._fed.pop(known.id, None)
            self._fed.setdefault(known.id, []).append(call.n)

    def behind(self, owned: list[Known]) -> list[int]:
        """The calls, by number, that fed these parameters since their gradients were cleared."""
        calls = {n for known in owned for n in self._fed.get(known.id, ()) if not _is_clear(known)}
        return sorted(calls)[-KEPT:]


def _is_clear(known: Known) -> bool:
    gradient = known.gradient
    if gradient is None:
        return True
    with torch.no_grad():
        return not bool((gradient.to_dense() if gradient.is_sparse else gradient).any())
