"""Scripts that update their parameters by hand: what would be a step, and how to hold it still."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .changes import written
from .engine import Call, Observer
from .frames import Json
from .gradients import fingerprint
from .graph import storage_of
from .parameters import Known, Parameters
from .steps import StepWatch

CALLS = 512  # at which gradients are read
MOVED = "parameters were replaced by hand: gradients are not all at the same parameters"

_Mode: Any = TorchDispatchMode  # untyped in torch


class HeldStill(_Mode):  # type: ignore[misc]
    """Leaves out every operation that would write into the memory of some tensors, and keeps in
    `spared` which memory that was."""

    def __init__(self) -> None:
        super().__init__()
        self.storages: set[int] = set()
        self.spared: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            targets = list(written(func._schema, args, kwargs))
            held = self.storages.intersection(map(storage_of, targets))
            if held:
                self.spared |= held
                return targets[0] if func._schema.returns else None
        return func(*args, **kwargs)


class HandSteps(Observer):
    """Tells the gradients that a script without optimizers has gathered when it clears them.

    With `frozen`, leaves that have received a gradient are no longer written to; told is how many
    would have been, or have given way to others.
    """

    def __init__(
        self, steps: StepWatch, parameters: Parameters, notes: list[str], *, frozen: bool
    ) -> None:
        self._steps = steps
        self._parameters = parameters
        self._notes = notes
        self._still = HeldStill() if frozen else None
        self._memory: dict[int, int | None] = {}
        self._replaced: set[int] = set()
        self._gathered: tuple[Json, list[Json], list[int]] | None = None
        self._marks: dict[int, object] = {}

    def before(self, call: Call) -> None:
        """Tell what was gathered, if it has been cleared since."""
        if self._gathered is not None and self._cleared():
            self._tell()

    def after(self, call: Call) -> None:
        """Read what the call gave; what `autograd.grad` gives is used at once."""
        if self._steps.made or call.n > CALLS or call.create_graph:
            return
        leaves = {id(leaf.variable): leaf.variable for _, leaf in call.walk.leaves}
        received = self._parameters.meet(list(leaves.values()), call.frame)
        if self._still is not None:
            self._hold(received)
        at: Json = call.record()["at"]
        if call.kind == "backward":
            known = self._parameters.known
            self._gathered = at, self._steps.read(known), self._steps.feeding.behind(known)
            self._marks = {known.id: _mark(known) for known in self._parameters.known}
        elif returned := self._returned(call):
            self._gathered = at, returned, []
            self._tell()

    def finish(self) -> None:
        """Tell what was gathered last, if it is gone by the end; and what is left."""
        if self._gathered is not None and self._cleared():
            self._tell()
        left = self._steps.read(self._parameters.known)
        self._steps.emit_step(-1, None, left, self._changed())

    def _returned(self, call: Call) -> list[Json]:
        found = []
        for tensor, gradient in zip(call.inputs, call.result or (), strict=False):
            known = self._parameters.find(tensor) if isinstance(tensor, torch.Tensor) else None
            if known is not None and tensor.is_leaf:
                found.append({"param": known.id, **fingerprint(gradient)})
        return found

    def _cleared(self) -> bool:
        return any(self._marks.get(known.id) != _mark(known) for known in self._marked())

    def _marked(self) -> list[Known]:
        return [known for known in self._parameters.known if self._marks.get(known.id) is not None]

    def _tell(self) -> None:
        if self._gathered is not None:
            self._parameters.tell()
            at, gradients, fed = self._gathered
            self._steps.emit_step(-1, at, gradients, self._changed(), fed)
            self._gathered, self._marks = None, {}

    def _changed(self) -> int:
        """How many leaves the script has updated since this was last asked."""
        if self._still is None:
            return 0
        changed = len(self._still.spared) + len(self._replaced)
        self._still.spared.clear()
        self._replaced.clear()
        return changed

    def _hold(self, received: list[Known]) -> None:
        """Hold these leaves still from now on; say so where they have moved all the same."""
        assert self._still is not None
        if not self._memory:
            self._still.__enter__()
        for known in received:
            tensor = known.tensor()
            storage = storage_of(tensor) if tensor is not None else None
            if self._memory.setdefault(known.id, storage) != storage:
                self._memory[known.id] = storage
                self._replaced.add(known.id)
                if MOVED not in self._notes:
                    self._notes.append(MOVED)
        self._still.storages |= {s for s in self._memory.values() if s is not None}


def _mark(known: Known) -> object:
    """What identifies a gradient as it is; None where there is none."""
    tensor = known.tensor()
    gradient = tensor.grad if tensor is not None and tensor.is_leaf else None
    return None if gradient is None else (id(gradient), gradient._version)
