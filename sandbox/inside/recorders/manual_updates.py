"""Scripts that update their parameters by hand: what would be a step, and how to hold it still."""

from __future__ import annotations

from typing import Any

import torch

from ..core.dispatch_mode import DispatchMode
from ..core.engine import Call, Observer
from ..core.frames import Json
from ..core.graph import storage_of
from ..core.parameters import KnownParameter, ParameterRegistry, values_of
from .gradient_sources import is_clear
from .gradients import fingerprint
from .inplace_changes import written
from .steps import StepWatch
from .updates import HeldUpdates

CALLS = 512  # at which gradients are read
MOVED = "parameters were replaced by hand: gradients are not all at the same parameters"


class WriteSuppression(DispatchMode):
    """Leaves out every operation that would write into the memory of some tensors, and keeps in
    `spared` which memory that was. It holds on to that memory, so that no other takes its name."""

    def __init__(self) -> None:
        super().__init__()
        self.storages: dict[int, torch.UntypedStorage] = {}
        self.spared: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            targets = list(written(func._schema, args, kwargs))
            held = {s for s in map(storage_of, targets) if s is not None and s in self.storages}
            if held:
                self.spared |= held
                return targets[0] if func._schema.returns else None
        return func(*args, **kwargs)


class ManualUpdates(Observer):
    """Reports the gradients that a script without optimizers has gathered when it clears them.

    With `frozen`, leaves that have received a gradient are no longer written to; the record says
    how many would have been, or have given way to others. With `renew`, these are leaves, too.
    """

    def __init__(
        self,
        steps: StepWatch,
        parameters: ParameterRegistry,
        notes: list[str],
        *,
        frozen: bool,
        renew: bool,
    ) -> None:
        self._steps = steps
        self._parameters = parameters
        self._notes = notes
        self._still = WriteSuppression() if frozen else None
        self._renew = renew
        self._memory: dict[int, int | None] = {}
        self._values: dict[int, tuple[float, float]] = {}
        self._replaced: set[int] = set()
        self._gathered: tuple[Json, list[Json], list[int]] | None = None
        self._begun: Json = {}
        self._count = 0
        self._reported = False
        self._marks: dict[int, object] = {}
        self._parts: dict[int, object] = {}  # the tensor that played each parameter's part

    def before(self, call: Call) -> None:
        """Tell what was gathered, if it has been cleared since."""
        if self._gathered is not None and self._cleared():
            self._tell()

    def after(self, call: Call) -> None:
        """Read what the call gave; what `autograd.grad` gives is used at once."""
        walks_again = call.create_graph and call.kind == "backward"
        if self._steps.optimizers.made or call.n > CALLS or walks_again:
            return
        leaves = {id(leaf.variable): leaf.variable for _, leaf in call.walk.leaves}
        received = self._parameters.meet(list(leaves.values()), call.frame)
        for leaf in received:
            self._steps.look_first(leaf)
        if self._still is not None:
            self._hold(received)
        known = self._parameters.known
        if any(self._parts.get(k.id, k.tensor) is not k.tensor for k in received):
            self._tell()
        self._parts |= {k.id: k.tensor for k in received}
        at: Json = call.record()["at"]
        if call.kind == "backward":
            self._gather(at, self._steps.feeding.read(known), self._steps.feeding.calls_of(known))
            self._marks = {k.id: k.mark for k in known}
        elif returned := self._returned(call):
            self._gather(at, returned, [])
            self._tell()

    def _gather(self, at: Json, gradients: list[Json], fed: list[int]) -> None:
        """Note them, and what the parameters hold before the script updates them."""
        self._gathered = at, gradients, fed
        state = self._steps.state
        if state is not None:
            self._begun = state.begin(self._parameters.known, None)
            state.add_values(gradients)

    def finish(self) -> None:
        """Tell what was gathered last, if it is gone by the end; and what is left."""
        if self._gathered is not None and self._cleared():
            self._tell()
        known = self._parameters.known
        clears = self._reported and self._gathered is not None
        fed = self._steps.feeding.calls_of(known) if clears else []
        self._steps.emit_step(-1, None, self._steps.feeding.read(known), self._changed(), fed)

    def _returned(self, call: Call) -> list[Json]:
        found = []
        for tensor, gradient in zip(call.inputs, call.result or (), strict=False):
            known = self._parameters.find(tensor) if isinstance(tensor, torch.Tensor) else None
            if known is not None and tensor.is_leaf:
                self._parameters.note_read(tensor)
                found.append({"param": known.id, **fingerprint(gradient)})
        return found

    def _cleared(self) -> bool:
        """Return True if the script has written to what it gathered; `grad.data` counts none."""
        _, gradients, _ = self._gathered or ({}, [], [])
        fed = {one["param"] for one in gradients if one["norm"]}
        return any(
            self._marks.get(known.id) != known.mark or (known.id in fed and is_clear(known))
            for known in self._marked()
        )

    def _marked(self) -> list[KnownParameter]:
        return [known for known in self._parameters.known if self._marks.get(known.id) is not None]

    def _tell(self) -> None:
        if self._gathered is not None:
            self._parameters.tell()
            at, gradients, fed = self._gathered
            self._count += 1
            begun = {"count": self._count, **self._begun}
            self._steps.emit_step(-1, at, gradients, self._changed(), fed, begun=begun)
            self._gathered, self._marks = None, {}
            self._reported = True

    def _changed(self) -> int:
        """Return how many leaves the script has updated since the last call."""
        if self._still is None:
            return 0
        changed = len(self._still.spared) + len(self._replaced)
        self._still.spared.clear()
        self._replaced.clear()
        return changed

    def _hold(self, received: list[KnownParameter]) -> None:
        """Hold these leaves still from now on; say so where they have moved all the same."""
        assert self._still is not None
        if not self._memory:
            self._still.__enter__()
            updates: Any = HeldUpdates(
                self._still.storages, self._parameters.note_read, renew=self._renew
            )
            updates.__enter__()
        for known in received:
            tensor = known.tensor()
            if tensor is None:
                continue
            storage = storage_of(tensor)
            if storage is not None:
                self._still.storages[storage] = tensor.untyped_storage()
            if self._memory.setdefault(known.id, storage) != storage:
                self._memory[known.id] = storage
                self._replaced.add(known.id)
            values = values_of(tensor)
            if self._values.setdefault(known.id, values) != values and MOVED not in self._notes:
                self._notes.append(MOVED)
