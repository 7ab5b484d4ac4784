"""Which backward calls the gradients that a parameter holds came from."""

from __future__ import annotations

from collections import defaultdict

import torch

from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.parameters import KnownParameter, ParameterRegistry
from .gradients import fingerprint

KEPT = 64  # calls recorded for one step


class GradientSources(Observer):
    """Follows what each parameter was fed since its gradient was last cleared, in whatever way.

    It looks at gradients after `BackwardRecorder`, which finds who received one.
    """

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self._fed: dict[int, list[int]] = {}
        self._parts: dict[int, object] = {}  # the tensor that played each parameter's part
        self._taken: dict[int, int] = {}  # how many of the calls that fed it a step has taken
        self._unused: dict[int, list[int]] = defaultdict(list)

    def before(self, call: Call) -> None:
        """Forget what has been cleared."""
        for number in list(self._fed):
            if is_clear(self._parameters.known[number]):
                for n in self._fed.pop(number)[self._taken.pop(number, 0) :]:
                    self._unused[n].append(number)

    def after(self, call: Call) -> None:
        """Note who was fed. What takes the place of another tensor begins without a gradient."""
        for known in call.received if call.kind == "backward" else ():
            if self._parts.setdefault(known.id, known.tensor) is not known.tensor:
                self._parts[known.id] = known.tensor
                self._fed.pop(known.id, None)
                self._taken.pop(known.id, None)
            if not is_clear(known):
                self._fed.setdefault(known.id, []).append(call.n)

    def read(self, parameters: list[KnownParameter]) -> list[Json]:
        """Return the fingerprints of the gradients that these parameters hold now."""
        alive = [(known, known.tensor()) for known in parameters]
        return [
            {
                "param": known.id,
                **fingerprint(tensor.grad if tensor.is_leaf else None),
                "fed": self.calls_of_one(known),
            }
            for known, tensor in alive
            if tensor is not None
        ]

    def calls_of(self, owned: list[KnownParameter]) -> list[int]:
        """Return the calls, by number, that fed these parameters since their gradients were
        cleared."""
        return sorted({n for known in owned for n in self.calls_of_one(known)})[-KEPT:]

    def calls_of_one(self, known: KnownParameter) -> list[int]:
        """Return the same for one parameter."""
        calls = self._fed.get(known.id, [])
        return [] if not calls or is_clear(known) else calls[-KEPT:]

    def take(self, owned: list[KnownParameter]) -> None:
        """Record that a step uses what these parameters hold."""
        for known in owned:
            if known.id in self._fed and not is_clear(known):
                self._taken[known.id] = len(self._fed[known.id])

    def unused(self) -> list[Json]:
        """Return, once, what was cleared before any step used it."""
        records = [{"call": n, "params": params} for n, params in sorted(self._unused.items())]
        self._unused.clear()
        return records[-KEPT:]


def is_clear(known: KnownParameter) -> bool:
    """Return True if a parameter has no gradient, or one of zeros."""
    gradient = known.gradient
    if gradient is None:
        return True
    with torch.no_grad():
        return not bool((gradient.to_dense() if gradient.is_sparse else gradient).any())
