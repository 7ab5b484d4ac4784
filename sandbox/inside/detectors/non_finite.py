"""Find the backward call at which a loss is no longer a finite number."""

from __future__ import annotations

from collections import defaultdict, deque
from math import isfinite, isnan

import torch

from ..core.emitter import Emitter
from ..core.engine import Call, Observer
from ..core.parameters import KnownParameter, ParameterRegistry

BEFORE = 4  # finite losses of the same line that are recorded


class LossWatch(Observer):
    """Record the first loss that is infinite or not a number, and what came before it.

    Calls that are not looked at closely are looked at only on the CPU, where reading a number
    waits for nothing.
    """

    watches = "losses that are not finite"

    def __init__(self, emitter: Emitter, parameters: ParameterRegistry) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self._before: dict[tuple[str, int], deque[float]] = defaultdict(
            lambda: deque(maxlen=BEFORE)
        )
        self._found = False

    def before(self, call: Call) -> None:
        """Look at the loss that a call begins from."""
        if self._found or call.kind != "backward":
            return
        for output in call.outputs:
            if (
                isinstance(output, torch.Tensor)
                and output.numel() == 1
                and output.is_floating_point()
                and (output.is_cpu or (call.closely and not output.is_meta))
            ):
                loss, before = output.item(), self._before[call.standing.at]
                if not isfinite(loss):
                    self._tell(call, loss, before)
                    return
                before.append(loss)

    glanced = before  # what is at hand is looked at in every call

    def _tell(self, call: Call, loss: float, before: deque[float]) -> None:
        self._found, self.glances = True, False
        spoilt = [known.name for known in self._parameters.known if _is_spoilt(known)]
        self._emitter.emit(
            {
                "t": "non_finite",
                "call": call.record(),
                "value": "NaN" if isnan(loss) else "inf" if loss > 0 else "-inf",
                "before": list(before),
                "params": [name for name in spoilt if name][:64],
            }
        )


def _is_spoilt(known: KnownParameter) -> bool:
    tensor = known.tensor()
    if tensor is None or tensor.is_meta or not tensor.is_floating_point():
        return False
    return not bool(tensor.detach().isfinite().all())
