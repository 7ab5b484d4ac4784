"""Finds trained parameters that the script uses and that no backward ever reaches, or only ever
with zeros."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from types import FrameType
from typing import Any

import torch
from torch.nn import Module
from torch.nn.modules.module import register_module_forward_pre_hook

from ..core.clock import CLOCK
from ..core.engine import Call
from ..core.parameters import KnownParameter, ParameterRegistry, values_of
from ..recorders.executed_lines import ExecutedLines
from .details import ZERO_LOSS, ZEROS
from .discarded_results import DiscardedResults
from .module_parameters import modules, parameters_of

STEPS = 2  # a parameter is judged at this step, of those at which it asks for a gradient
LATER = (3, 4, 6)  # at these it is looked whether they have moved
CHECKPOINT, FRAMES = os.path.join("torch", "utils", "checkpoint.py"), 24
ZERO_STEPS = 3  # so many steps on zeros alone, and no other, are no accident


class UntrainedParameters:
    """Looks at each parameter's second step; a gradient that comes later clears it.

    Module calls, and the `lines` that run, are watched only once a first step met a parameter
    without gradient: what no forward pass uses (a head switched off by a flag) is no finding. A
    module of its own next to those that learn may be frozen on purpose, or be a copy that follows:
    it counts if its calls build graphs, which somebody then cuts, and nothing else moves its
    values. Nor do those of whose results the script uses none, or that it moves itself. And what
    only steps after backward calls that reach no parameter trains nothing.
    """

    def __init__(self, parameters: ParameterRegistry) -> None:
        self._parameters = parameters
        self.lines = ExecutedLines()
        self._steps: dict[int, int] = defaultdict(int)
        self._ages: dict[int, int] = {}  # steps at which parameters asked for a gradient
        self._before: dict[int, int] = {}  # receipts, as they joined others or were thawed
        self._members: dict[int, set[int]] = {}  # of optimizers
        self._called: set[int] | None = None
        self._awaited: set[int] = set()  # parameters that will be judged by who is called
        self._hook: Any = None
        self._building: set[int] = set()
        self._discarded = DiscardedResults(parameters)
        self._judged: dict[int, tuple[KnownParameter, tuple[float, float] | None]] = {}
        self._moved: set[int] = set()  # of those judged, by others than an optimizer
        self._cut: set[int] = set()
        self._suspects: dict[int, KnownParameter] = {}
        self._idle: dict[int, KnownParameter] = {}
        self._zeros: dict[int, dict[int, KnownParameter]] = {}
        self._owned: dict[int, int] = {}
        self._has_loss = False  # whether a loss was other than zero while gradients were zeros
        self._unread: set[int] = set()
        self._reached: bool | None = None  # what is trained, by any backward since the last step
        self._astray: dict[int, list[KnownParameter]] = {}

    def after_backward(self, call: Call) -> None:
        """Record what a backward call has given a gradient, and whether its loss was zero."""
        trained = any(known.optimizer is not None for known in call.received)
        self._reached = trained or bool(self._reached)
        if not self._has_loss and (self.awaits_gradients or not self._steps):
            self._has_loss = any(map(_is_other_than_zero, call.outputs))

    def stepped(self, optimizer: int, owned: list[KnownParameter]) -> None:
        """Look at what an optimizer found at its step."""
        self._steps[optimizer] += 1
        reached, self._reached = self._reached, None
        if reached is False and self._steps[optimizer] > 1 and all(map(self._is_empty, owned)):
            self._astray[optimizer] = owned
        self._owned[optimizer] = len(owned)
        flat = self._zeros.get(optimizer, {known.id: known for known in owned})
        if flat:
            self._zeros[optimizer] = {i: known for i, known in flat.items() if _is_zero(known)}
        members = self._members.setdefault(optimizer, {known.id for known in owned})
        late = [known for known in owned if known.id not in members]
        members.update(known.id for known in late)
        self._forget([known for known in owned if _is_frozen(known)] + late)
        self._look(owned)

    def step_glanced(self, optimizer: int) -> None:
        """Look, at a step, at those alone that had nothing but zeros so far."""
        if flat := self._zeros.get(optimizer):
            self._zeros[optimizer] = {i: known for i, known in flat.items() if _is_zero(known)}

    @property
    def awaits_gradients(self) -> bool:
        """Return True if parameters of any optimizer had nothing but zeros so far."""
        return any(self._zeros.values())

    def rest(self) -> None:
        """Forget who was reached last: what follows is not looked at."""
        self._reached = None

    def _forget(self, news: list[KnownParameter]) -> None:
        """Forget what these were given before: they are to learn from here on.

        They joined an optimizer, or were unfrozen.
        """
        for known in news:
            self._before[known.id] = known.receipts
            self._ages.pop(known.id, None)

    def _is_fed(self, known: KnownParameter) -> bool:
        return known.receipts > self._before.get(known.id, 0)

    def _is_empty(self, known: KnownParameter) -> bool:
        tensor = known.tensor()
        return (
            not self._is_fed(known)
            and isinstance(tensor, torch.Tensor)
            and tensor.is_leaf
            and tensor.requires_grad
            and tensor.grad is None
        )

    def _look(self, owned: list[KnownParameter]) -> None:
        """Judge those that have required a gradient at so many steps, whenever they began to."""
        young = list[KnownParameter]()
        for known in owned:
            tensor = known.tensor()
            if tensor is None or not tensor.requires_grad:
                continue
            self._ages[known.id] = age = self._ages.get(known.id, 0) + 1
            if age <= STEPS:
                young.append(known)
            if age in LATER:  # a parameter that somebody writes to needs no gradient
                self._has_moved(known)
        if not young or CLOCK.calls == 0:
            return
        without = [known for known in young if self._is_empty(known)]
        self._await(young, without)
        judged = [known for known in without if self._ages[known.id] == STEPS]
        if judged and CLOCK.calls >= STEPS:
            alive = modules()
            used = parameters_of(alive, self._called or set())
            self._suspects |= {
                known.id: known for known in judged if known.withheld or id(known.tensor()) in used
            }
            if len(judged) == len(owned):
                self._idle |= {known.id: known for known in owned}
            building = parameters_of(alive, self._building)
            self._cut |= {known.id for known in judged if id(known.tensor()) in building}
            self._unread |= {known.id for known in judged if known.id not in self._suspects}
            self._judged |= {known.id: (known, _values(known)) for known in judged}
        if not self._awaited and self._hook is not None:
            self._hook.remove()
            self._hook = None
            self.lines.end()

    def _await(self, young: list[KnownParameter], without: list[KnownParameter]) -> None:
        """Watch modules' calls as long as there is anything that is yet to be judged."""
        self._awaited -= {known.id for known in young}
        self._awaited |= {known.id for known in without if self._ages[known.id] < STEPS}
        if without and self._hook is None:
            self._called = set() if self._called is None else self._called
            self._hook = register_module_forward_pre_hook(self._note)
            self.lines.begin()

    def found(self) -> tuple[list[KnownParameter], str]:
        """Return the parameters that never got a gradient, with a detail.

        A node passed them None, or their module's others did get one, or none at all did, or they
        were cut off; else return those of optimizers that met nothing at all, or nothing but zeros.
        """
        without = (
            self._without_gradient()
            or self._never_fed()
            or [known for owned in self._astray.values() for known in owned if not _fed(owned)]
        )
        if without:
            return without, ""
        flat = [
            known
            for optimizer, flat in self._zeros.items()
            if self._steps[optimizer] >= ZERO_STEPS and len(flat) == self._owned[optimizer]
            for known in flat.values()
        ]
        return flat, ZEROS if self._has_loss else ZERO_LOSS

    def doubted(self) -> list[KnownParameter]:
        """Return parameters without gradient of modules that are not called, although others got
        one.

        The script has no use for them, or reads them without their graph.
        """
        unread = [known for i, (known, _) in self._judged.items() if i in self._unread]
        return [one for one in unread if not (self._is_fed(one) or self._has_moved(one))]

    def excused(self) -> list[KnownParameter]:
        """Return the parameters that need no gradient: the script moves them itself, or uses none
        of their module's results."""
        judged = [known for known, _ in self._judged.values() if not self._is_fed(known)]
        return [one for one in judged if self._is_excused(one) or one in self._uncalled()]

    def _uncalled(self) -> list[KnownParameter]:
        return [one for one in self.doubted() if "." in one.name and not one.lost]

    def _never_fed(self) -> list[KnownParameter]:
        """Return what optimizers have that met no gradient at all, whoever uses it.

        If nothing that is trained got one, backward calls led elsewhere, to a copy of it for
        example.
        """
        trained = [known for known in self._parameters.known if known.optimizer is not None]
        if any(known.receipts for known in trained):
            return []
        return [known for known in self._idle.values() if self._is_empty(known)]

    def _without_gradient(self) -> list[KnownParameter]:
        trained = [known for known in self._parameters.known if known.optimizer is not None]
        alive = {_module(known) for known in trained if known.receipts}
        fed = {known.name for known in trained if self._is_fed(known)}
        return [
            known
            for known in self._suspects.values()
            if not (self._is_fed(known) or _only_shifts(known.name, fed))
            and not self._is_excused(known)
            and (known.withheld or _module(known) in alive or not alive or self._is_cut_off(known))
        ]

    def _is_cut_off(self, known: KnownParameter) -> bool:
        """Return True if its values never moved, as far as it lived."""
        return known.id in self._cut and not self._has_moved(known)

    def _is_excused(self, known: KnownParameter) -> bool:
        return self._has_moved(known) or self._discarded.holds(known)

    def _has_moved(self, known: KnownParameter) -> bool:
        """Return True if somebody has written to a parameter since it was judged."""
        stood = self._judged[known.id][1] if known.id in self._judged else None
        if stood is not None and _values(known) not in (None, stood):
            self._moved.add(known.id)
        return known.id in self._moved

    def _note(self, module: Module, inputs: Any) -> None:
        if self._called is not None:
            self._called.add(id(module))
            self._discarded.called(module, sys._getframe(1))
            if torch.is_grad_enabled() or _is_checkpointed(sys._getframe(1)):
                self._building.add(id(module))


def _only_shifts(name: str, fed: set[str]) -> bool:
    """Return True for the bias of a layer whose weight learns.

    No derivative of the layer's result depends on it.
    """
    layer, _, own = name.rpartition(".")
    return own == "bias" and f"{layer}.weight" in fed


def _is_checkpointed(frame: FrameType | None) -> bool:
    """Return True if a call is a checkpoint's, which records nothing at first, to do so later."""
    for _ in range(FRAMES):
        if frame is None:
            break
        if frame.f_code.co_filename.endswith(CHECKPOINT):
            return True
        frame = frame.f_back
    return False


def _is_frozen(known: KnownParameter) -> bool:
    tensor = known.tensor()
    return tensor is not None and not tensor.requires_grad


def _fed(owned: list[KnownParameter]) -> bool:
    return any(known.receipts for known in owned)


def _values(known: KnownParameter) -> tuple[float, float] | None:
    """Return what shows whether the values have moved."""
    tensor = known.tensor()
    return values_of(tensor) if tensor is not None else None


def _is_other_than_zero(loss: Any) -> bool:
    """Return True for what is no number, too: its gradient is given from outside."""
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or loss.is_meta:
        return True
    return bool(loss.detach() != 0)


def _is_zero(known: KnownParameter) -> bool:
    return known.gradient is not None and known.norm == 0


def _module(known: KnownParameter) -> str:
    """Return what the parameter's name begins with: the module that owns it."""
    return known.name.partition(".")[0]
