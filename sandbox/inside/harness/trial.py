"""One run in a harness: what is seen of it."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from . import lineage
from .context import CurrentHarness
from .functions import shape_shown_by
from .placeholders import NeedsValue, Placeholder
from .size_messages import Failure

ENOUGH = 16  # backward calls of one trial


class Enough(BaseException):
    """A trial has shown what it can show."""


class HarnessTrial:
    """What one run of a harness shows: how it ended, and which torch function raised."""

    def __init__(self) -> None:
        self.failure: Failure | None = None
        self.wish: NeedsValue | None = None
        self.backward_calls = 0
        self.calls = 0  # of torch: how far the run came
        self.lines = (0, 0)
        self.callers: list[tuple[int, int]] = []  # the statements that called, the innermost first
        self.report = ""  # the failing statement, where it only reports
        self.held: tuple[str, ...] = ()  # paths of synthesized values, by the failing line's names
        self.invented_loss = False
        self.blind = False  # an optimizer found nothing that learns
        self.driven = ""  # the function that nothing calls and that was being called


class Watch(TorchFunctionMode):
    """Observes every call of torch, counts backward calls, and records the call that raised."""

    def __init__(self, trial: HarnessTrial) -> None:
        super().__init__()
        self._trial = trial

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        self._trial.calls += 1
        if name == "backward":
            self._trial.backward_calls += 1
            if self._trial.backward_calls > ENOUGH:
                raise Enough
        if name in ("__getitem__", "__setitem__"):
            for index in args[1] if isinstance(args[1], tuple) else args[1:2]:
                if isinstance(index, Placeholder):  # else torch would take its items for numbers
                    raise NeedsValue(index._path, "tensor")
        shown = shape_shown_by(name, args)
        if shown is not None and shown[0] not in CurrentHarness.harness.plan.shapes:
            raise NeedsValue(shown[0], shape=shown[1])
        try:
            result = func(*args, **(kwargs or {}))
            known = lineage.remembered(result, args, taken=name == "__getitem__")
            return lineage.turned(known, name, args)
        except Exception as error:
            given = (*args, *(kwargs or {}).values())
            if self._trial.failure is None or self._trial.failure.error is not error:
                self._trial.failure = Failure(error, name, given)
            raise
