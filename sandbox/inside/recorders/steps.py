"""Watches optimizers: who owns which parameter, what each step found and changed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from types import FrameType, MethodType
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from ..core import frames
from ..core.budget import InstrumentTime
from ..core.clock import CLOCK, next_number
from ..core.emitter import Emitter
from ..core.frames import Json
from ..core.internal_errors import notify_safely
from ..core.parameters import KnownParameter, ParameterRegistry
from ..core.sampling import CallSampler, sampled
from ..references.perturbation import LOOKS, Perturbation
from .gradient_sources import GradientSources
from .optimizers import OptimizerRegistry, ParameterState, needs_closure, owned_by, state_of
from .training_state import TrainingState, values_print

OnStep = Callable[[int, list[KnownParameter], int], None]
OnGlance = Callable[[int], None]
_class: Any = Optimizer


class StepWatch:
    """Records every step. `frozen` steps read the gradients and change nothing.

    `on_step` gets each that is looked at closely: optimizer, its parameters, how many calls of its
    closure added to the gradients of the call before; `on_glance` the others. `unmoved` are
    parameters that frozen steps leave where they begin, by their identity (`Perturbation`). `state`
    also records what steps start from.
    """

    def __init__(
        self,
        emitter: Emitter,
        parameters: ParameterRegistry,
        *,
        gradients: bool,
        frozen: bool,
        attention: CallSampler,
        notes: list[str],
        unmoved: Collection[int] = (),
        state: TrainingState | None = None,
    ) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self.gradients = gradients
        self.frozen = frozen
        self._perturbation = Perturbation(parameters, unmoved)
        self.state = state
        self.optimizers = OptimizerRegistry()
        self.on_step: list[tuple[InstrumentTime, OnStep]] = []
        self.on_glance: list[tuple[InstrumentTime, OnGlance]] = []
        self._attention = attention
        self._notes = notes
        attention.on_rest.append(self._rest)
        attention.on_return.append(self._return)
        self.feeding = GradientSources(parameters)

    def install(self) -> None:
        """Wrap every optimizer as it takes its parameters, and hook every step."""
        add_param_group = Optimizer.add_param_group

        def meeting(optimizer: Optimizer, group: dict[str, Any]) -> None:
            add_param_group(optimizer, group)
            notify_safely(self._meet, optimizer, sys._getframe(1), notes=self._notes)

        _class.add_param_group = meeting
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)

    def _meet(self, optimizer: Optimizer, frame: FrameType) -> None:
        one = self.optimizers.of(optimizer)
        if one.number < 0:
            one.number = self.optimizers.made
            self._attention.renew(CLOCK.calls)
            self.optimizers.made += 1
            if self.frozen:
                watch = self

                def step(optimizer: Optimizer, closure: Any = None) -> Any:
                    return watch._frozen_step(optimizer, closure)

                vars(optimizer)["step"] = MethodType(step, optimizer)
        owned = owned_by(optimizer)
        fresh = [p for p in owned if not self._is_owned(p)]
        for known in self._parameters.meet(owned, frames.user_frame(frame), one.number):
            self.look_first(known)
        if self.frozen:
            self._perturbation.move(fresh, late=self.optimizers.made > LOOKS)
        self._parameters.tell()

    def look_first(self, known: KnownParameter) -> None:
        """Note what a parameter holds as it is met."""
        if self.gradients and not known.first:
            known.first = values_print(known.tensor())

    def _is_owned(self, parameter: torch.Tensor) -> bool:
        known = self._parameters.find(parameter)
        return known is not None and known.optimizer is not None

    def _frozen_step(self, optimizer: Optimizer, closure: Any) -> Any:
        """Do everything that a step does but changing values.

        An optimizer that cannot step without its closure evaluates it as often as it likes: here
        twice, from the same gradients.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                if needs_closure(optimizer):
                    self._evaluate_first(optimizer, closure)
                loss = closure()
        gradients = self._gradients_of(optimizer)
        if self.state is not None and gradients:
            self._begin(self.state, optimizer)
            self.state.add_values(gradients)
        CLOCK.steps += 1
        CLOCK.evaluated_since = None
        met = self._parameters.meet(owned_by(optimizer), None)
        self._tell(optimizer, met, gradients, 0)
        return loss

    def _begin(self, state: TrainingState, optimizer: Optimizer) -> None:
        owned = self._parameters.meet(owned_by(optimizer), None)
        self.optimizers.of(optimizer).begun = state.begin(owned, optimizer)

    def _evaluate_first(self, optimizer: Optimizer, closure: Any) -> None:
        """Evaluate the closure for the first of two times, recorded as a step of its own."""
        owned = owned_by(optimizer)
        before = [None if p.grad is None else p.grad.clone() for p in owned]
        begun = next_number()
        closure()
        CLOCK.evaluated_since = begun
        if self.optimizers.is_due(optimizer, CLOCK.steps + 1):
            met = self._parameters.meet(owned, None)
            at = frames.user_place(sys._getframe(2))
            number = self.optimizers.of(optimizer).number
            self.emit_step(number, at, self.feeding.read(met), fed=self.feeding.calls_of(met))
        for parameter, gradient in zip(owned, before, strict=True):
            parameter.grad = gradient

    def _before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        if not self._attention.close:
            return None
        return notify_safely(self._read_before, optimizer, args, kwargs, notes=self._notes)

    def _read_before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        """Read gradients before a plain step; of a closure's, those of its first call."""
        one = self.optimizers.of(optimizer)
        one.before = state_of(optimizer)
        CLOCK.closure = 0
        if self.state is not None and self.optimizers.is_due(optimizer, CLOCK.steps + 1):
            self._begin(self.state, optimizer)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not self.gradients or not callable(closure):
            one.read = self._gradients_of(optimizer)
            return None
        one.read = None

        def reading() -> Any:
            begun = CLOCK.calls
            CLOCK.closure += 1
            loss = closure()
            if one.read is None:
                one.read = self._gradients_of(optimizer)
            elif (
                sampled(CLOCK.steps + 1)
                and not frames.is_user_class(type(optimizer))  # it may mean to
                and self._holds_older(optimizer, begun)
            ):
                one.closure_accumulated += 1
            return loss

        if len(args) > 1:
            return (args[0], reading, *args[2:]), kwargs
        return args, {**kwargs, "closure": reading}

    def _after(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        CLOCK.steps += 1
        CLOCK.closure = 0
        one = self.optimizers.known.get(id(optimizer)) or self.optimizers.of(optimizer)
        if (own := vars(optimizer).get("step")) is not None:
            one.led_by = own
        before, one.before = one.before, None
        if before is None:
            one.last = CLOCK.steps
            self.optimizers.count(one)
            for account, glancing in self.on_glance:
                account.call(glancing, one.number)
            return
        notify_safely(self._read_after, optimizer, before, notes=self._notes)

    def _read_after(self, optimizer: Optimizer, before: list[ParameterState]) -> None:
        one = self.optimizers.of(optimizer)
        met, moved = self._changed(optimizer, before, CLOCK.steps)
        gradients, one.read = one.read or [], None
        if self.state is not None and gradients:
            self.state.add_values(gradients)
            self.state.add_changes(gradients, met)
        self._tell(optimizer, met, gradients, moved)

    def _changed(
        self, optimizer: Optimizer, before: list[ParameterState], step: int
    ) -> tuple[list[KnownParameter], int]:
        """Return an optimizer's parameters, and how much of them that step changed."""
        owned, now = owned_by(optimizer), state_of(optimizer)
        moved = {id(t) for t, *how in zip(owned, before, now, strict=False) if how[0] != how[1]}
        met = self._parameters.meet(owned, None)
        for known in met:
            if id(known.tensor()) in moved:
                known.changed_by = step
        return met, 0 if self.optimizers.is_still(optimizer) else len(moved)

    def _rest(self) -> None:
        """Stop to look at steps: record what they begin with."""
        for optimizer in self.optimizers.alive():
            one = self.optimizers.of(optimizer)
            one.before_rest, one.last = state_of(optimizer), None

    def _return(self) -> None:
        """Note what unseen steps have changed, the last of each optimizer's as far as it shows."""
        for optimizer in self.optimizers.alive():
            one = self.optimizers.of(optimizer)
            if one.before_rest is not None and one.last is not None:
                self._changed(optimizer, one.before_rest, one.last)
            one.before_rest = None

    def _holds_older(self, optimizer: Optimizer, begun: int) -> bool:
        """Return True if gradients of calls before that number are still among those of later
        ones."""
        met = self._parameters.meet(owned_by(optimizer), None)
        return min(self.feeding.calls_of(met), default=begun + 1) <= begun

    def _gradients_of(self, optimizer: Optimizer) -> list[Json]:
        if not self.gradients or not self.optimizers.is_due(optimizer, CLOCK.steps + 1):
            return []
        return self.feeding.read(self._parameters.meet(owned_by(optimizer), None))

    def _tell(
        self, optimizer: Optimizer, owned: list[KnownParameter], gradients: list[Json], changed: int
    ) -> None:
        one = self.optimizers.of(optimizer)
        is_due = self.optimizers.is_due(optimizer, CLOCK.steps)
        self.optimizers.count(one)
        frame = sys._getframe(1)
        if CLOCK.steps <= 2:
            self._parameters.name_again(frames.user_frame(frame))
            self._parameters.tell()
        closure_accumulated, one.closure_accumulated = one.closure_accumulated, 0
        for account, listener in self.on_step:
            account.call(listener, one.number, owned, closure_accumulated)
        if self.gradients:
            self.feeding.take(owned)
        if is_due:
            fed = self.feeding.calls_of(owned) if self.gradients else []
            begun, one.begun = {"count": one.steps, **(one.begun or {})}, None
            at = frames.user_place(frame)
            self.emit_step(
                one.number, at, gradients, changed, fed, bool(closure_accumulated), begun
            )

    def emit_step(
        self,
        optimizer: int,
        at: Json | None,
        gradients: list[Json],
        changed: int = 0,
        fed: Sequence[int] = (),
        closure_accumulated: bool = False,
        begun: Json | None = None,
    ) -> None:
        """Write one `step` record; `begun` is what it started from."""
        self._emitter.emit(
            {
                "t": "step",
                "n": CLOCK.steps,
                "optimizer": optimizer,
                "at": at,
                "after": CLOCK.calls,
                "gradients": gradients,
                "changed": changed,
                "fed": fed,
                "unused": self.feeding.unused(),
                "closure_accumulated": closure_accumulated,
                **(begun or {}),
            }
        )
