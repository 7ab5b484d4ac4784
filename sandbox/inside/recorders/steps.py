"""Watches optimizers: who owns which parameter, what each step found and changed."""

from __future__ import annotations

import inspect
import sys
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from ..core import frames
from ..core.budget import InstrumentTime
from ..core.emitter import Emitter
from ..core.frames import Json
from ..core.parameters import KnownParameter, ParameterRegistry, values_of
from ..core.sampling import CallSampler, sampled
from ..core.stamps import Clock, next_number
from ..references.perturbation import LOOKS, perturb, reached
from .gradient_sources import GradientSources
from .gradients import fingerprint
from .training_state import TrainingState, values_print

MANY = 8  # optimizers: beyond, steps are sampled together, not those of each
OnStep = Callable[[int, list[KnownParameter], int], None]
OnGlance = Callable[[int], None]
CallStack = tuple[int, tuple[float, float] | None]  # how often it was written; what it holds
_class: Any = Optimizer


@dataclass(slots=True, eq=False)
class _Optimizer:
    """What is known of an optimizer; it has a number if its parameters were seen as it took them.

    `stood` is how its parameters are before the step that runs, and `rested` before those that are
    not looked at; `last` is the latest of these. `led_by` is the instance's own `step` that led to
    the class's.
    """

    alive: weakref.ref[Optimizer]
    number: int = -1
    taken: int = 0
    last: int | None = None
    stood: list[CallStack] | None = None
    rested: list[CallStack] | None = None
    read: list[Json] | None = None
    begun: Json | None = None
    closure_accumulated: int = 0
    led_by: object = None


class StepWatch:
    """Records every step. `frozen` steps read the gradients and change nothing.

    `on_step` gets each that is looked at closely: optimizer, its parameters, how many calls of its
    closure added to the gradients of the call before; `on_glance` the others. `unmoved` are
    parameters that frozen steps leave where they begin, by their identity (`place_of`). `state`
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
        unmoved: Collection[int] = (),
        state: TrainingState | None = None,
    ) -> None:
        self._emitter = emitter
        self._parameters = parameters
        self.gradients = gradients
        self.frozen = frozen
        self._unmoved = frozenset(unmoved)
        self._alike: Counter[str] = Counter()
        self.state = state
        self._known: dict[int, _Optimizer] = {}  # by the identity of those that are alive
        self.totals: Counter[int] = Counter()  # steps by optimizer, those that are gone, too
        self.latest: dict[int, int] = {}  # which step of all was the latest of each
        self.on_step: list[tuple[InstrumentTime, OnStep]] = []
        self.on_glance: list[tuple[InstrumentTime, OnGlance]] = []
        self._attention = attention
        attention.on_rest.append(self._rest)
        attention.on_return.append(self._return)
        self.feeding = GradientSources(parameters)
        self.made = 0

    def install(self) -> None:
        """Wrap every optimizer as it takes its parameters, and hook every step."""
        add_param_group = Optimizer.add_param_group

        def meeting(optimizer: Optimizer, group: dict[str, Any]) -> None:
            add_param_group(optimizer, group)
            self._meet(optimizer)

        _class.add_param_group = meeting
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)

    def _meet(self, optimizer: Optimizer) -> None:
        one = self._of(optimizer)
        if one.number < 0:
            one.number = self.made
            self._attention.renew(Clock.calls)
            self.made += 1
            if self.frozen:
                watch = self

                def step(optimizer: Optimizer, closure: Any = None) -> Any:
                    return watch._frozen_step(optimizer, closure)

                vars(optimizer)["step"] = MethodType(step, optimizer)
        owned = _owned(optimizer)
        fresh = [p for p in owned if not self._is_owned(p)]
        frame = frames.user_frame(sys._getframe(2))
        for known in self._parameters.meet(owned, frame, one.number):
            self.look_first(known)
        if self.frozen:
            self._perturb(fresh)
        self._parameters.tell()

    def _of(self, optimizer: Optimizer) -> _Optimizer:
        key = id(optimizer)
        one = self._known.get(key)
        if one is None:
            alive = weakref.ref(optimizer, lambda _: self._known.pop(key, None))
            one = self._known[key] = _Optimizer(alive)
        return one

    def _perturb(self, fresh: Sequence[torch.Tensor]) -> None:
        """Move them off where they begin, but for those that stay in any run of the script."""
        late = self.made > LOOKS
        used = set() if late else reached()
        for parameter in fresh:
            known = self._parameters.find(parameter)
            place = self._place_of(known)
            if not late and id(parameter) not in used and place not in self._unmoved:
                perturb(parameter, place)
            elif known is not None:
                known.unmoved = place

    def _place_of(self, known: KnownParameter | None) -> int:
        """Return a number for a parameter that neither its name nor the order of groups changes.

        It follows from its shape and first values, and how many before it had the same.
        """
        found = repr((known.shape, known.first)) if known is not None else ""
        self._alike[found] += 1
        return zlib.crc32(f"{found} {self._alike[found]}".encode())

    def look_first(self, known: KnownParameter) -> None:
        """Note what a parameter holds as it is met."""
        if self.gradients and not known.first:
            known.first = values_print(known.tensor())

    def _is_owned(self, parameter: torch.Tensor) -> bool:
        known = self._parameters.find(parameter)
        return known is not None and known.optimizer is not None

    def optimizers(self) -> list[Optimizer]:
        """Return the optimizers that are alive."""
        met = [one.alive() for one in self._known.values() if one.number >= 0]
        return [alive for alive in met if alive is not None]

    def is_led_by(self, optimizer: Optimizer, step: object) -> bool:
        """Return True if the instance's own `step` has led to the class's."""
        return self._of(optimizer).led_by is step

    def passes(self) -> int:
        """Return the iteration that the training is in: every optimizer has stepped so often."""
        return min((one.taken for one in self._known.values()), default=0)

    def _frozen_step(self, optimizer: Optimizer, closure: Any) -> Any:
        """Do everything that a step does but changing values.

        An optimizer that cannot step without its closure evaluates it as often as it likes: here
        twice, from the same gradients.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                if _needs_closure(optimizer):
                    self._evaluate_first(optimizer, closure)
                loss = closure()
        gradients = self._gradients_of(optimizer)
        if self.state is not None and gradients:
            self._begin(self.state, optimizer)
            self.state.add_values(gradients)
        Clock.steps += 1
        Clock.evaluated_since = None
        met = self._parameters.meet(_owned(optimizer), None)
        self._tell(optimizer, met, gradients, 0)
        return loss

    def _begin(self, state: TrainingState, optimizer: Optimizer) -> None:
        owned = self._parameters.meet(_owned(optimizer), None)
        self._of(optimizer).begun = state.begin(owned, optimizer)

    def _evaluate_first(self, optimizer: Optimizer, closure: Any) -> None:
        """Evaluate the closure for the first of two times, recorded as a step of its own."""
        owned = _owned(optimizer)
        before = [None if p.grad is None else p.grad.clone() for p in owned]
        begun = next_number()
        closure()
        Clock.evaluated_since = begun
        if self._is_due(optimizer, Clock.steps + 1):
            met = self._parameters.meet(owned, None)
            at = frames.user_place(sys._getframe(2))
            number = self._of(optimizer).number
            self.emit_step(number, at, self.read(met), fed=self.feeding.behind(met))
        for parameter, gradient in zip(owned, before, strict=True):
            parameter.grad = gradient

    def _before(
        self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Any] | None:
        """Read gradients before a plain step; of a closure's, those of its first call."""
        if not self._attention.close:
            return None
        one = self._of(optimizer)
        one.stood = _standing(optimizer)
        Clock.closure = 0
        if self.state is not None and self._is_due(optimizer, Clock.steps + 1):
            self._begin(self.state, optimizer)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not self.gradients or not callable(closure):
            one.read = self._gradients_of(optimizer)
            return None
        one.read = None

        def reading() -> Any:
            begun = Clock.calls
            Clock.closure += 1
            loss = closure()
            if one.read is None:
                one.read = self._gradients_of(optimizer)
            elif (
                sampled(Clock.steps + 1)
                and not frames.is_user_class(type(optimizer))  # it may mean to
                and self._holds_older(optimizer, begun)
            ):
                one.closure_accumulated += 1
            return loss

        if len(args) > 1:
            return (args[0], reading, *args[2:]), kwargs
        return args, {**kwargs, "closure": reading}

    def _after(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        Clock.steps += 1
        Clock.closure = 0
        one = self._known.get(id(optimizer)) or self._of(optimizer)
        if (own := vars(optimizer).get("step")) is not None:
            one.led_by = own
        before, one.stood = one.stood, None
        if before is None:
            one.last = Clock.steps
            self._count(one)
            for account, glancing in self.on_glance:
                account.call(glancing, one.number)
            return
        met, moved = self._changed(optimizer, before, Clock.steps)
        gradients, one.read = one.read or [], None
        if self.state is not None and gradients:
            self.state.add_values(gradients)
            self.state.add_changes(gradients, met)
        self._tell(optimizer, met, gradients, moved)

    def _changed(
        self, optimizer: Optimizer, before: list[CallStack], step: int
    ) -> tuple[list[KnownParameter], int]:
        """Return an optimizer's parameters, and how much of them that step changed."""
        owned, now = _owned(optimizer), _standing(optimizer)
        moved = {id(t) for t, *how in zip(owned, before, now, strict=False) if how[0] != how[1]}
        met = self._parameters.meet(owned, None)
        for known in met:
            if id(known.tensor()) in moved:
                known.changed_by = step
        return met, len(moved)

    def _rest(self) -> None:
        """Stop to look at steps: record what they begin with."""
        for optimizer in self.optimizers():
            one = self._of(optimizer)
            one.rested, one.last = _standing(optimizer), None

    def _return(self) -> None:
        """Note what unseen steps have changed, the last of each optimizer's as far as it shows."""
        for optimizer in self.optimizers():
            one = self._of(optimizer)
            if one.rested is not None and one.last is not None:
                self._changed(optimizer, one.rested, one.last)
            one.rested = None

    def _holds_older(self, optimizer: Optimizer, begun: int) -> bool:
        """Return True if gradients of calls before that number are still among those of later
        ones."""
        met = self._parameters.meet(_owned(optimizer), None)
        return min(self.feeding.behind(met), default=begun + 1) <= begun

    def _gradients_of(self, optimizer: Optimizer) -> list[Json]:
        if not self.gradients or not self._is_due(optimizer, Clock.steps + 1):
            return []
        return self.read(self._parameters.meet(_owned(optimizer), None))

    def _is_due(self, optimizer: Optimizer, n: int) -> bool:
        """Return True if this step of the optimizer, the `n`th of the run, is one of the sample.

        The sample is drawn for each optimizer: two that are made one are sampled alike.
        """
        own = sampled(self._of(optimizer).taken + 1)
        return own and (self.made <= MANY or sampled(n))

    def read(self, parameters: list[KnownParameter]) -> list[Json]:
        """Return the fingerprints of the gradients that these parameters hold now."""
        alive = [(known, known.tensor()) for known in parameters]
        return [
            {
                "param": known.id,
                **fingerprint(tensor.grad if tensor.is_leaf else None),
                "fed": self.feeding.behind_one(known),
            }
            for known, tensor in alive
            if tensor is not None
        ]

    def _tell(
        self, optimizer: Optimizer, owned: list[KnownParameter], gradients: list[Json], changed: int
    ) -> None:
        one = self._of(optimizer)
        is_due = self._is_due(optimizer, Clock.steps)
        self._count(one)
        frame = sys._getframe(1)
        if Clock.steps <= 2:
            self._parameters.name_again(frames.user_frame(frame))
            self._parameters.tell()
        closure_accumulated, one.closure_accumulated = one.closure_accumulated, 0
        for account, listener in self.on_step:
            account.call(listener, one.number, owned, closure_accumulated)
        if self.gradients:
            self.feeding.take(owned)
        if is_due:
            fed = self.feeding.behind(owned) if self.gradients else []
            begun, one.begun = {"count": one.taken, **(one.begun or {})}, None
            at = frames.user_place(frame)
            self.emit_step(
                one.number, at, gradients, changed, fed, bool(closure_accumulated), begun
            )

    def _count(self, one: _Optimizer) -> None:
        one.taken += 1
        self.totals[one.number] += 1
        self.latest[one.number] = Clock.steps

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
                "n": Clock.steps,
                "optimizer": optimizer,
                "at": at,
                "after": Clock.calls,
                "gradients": gradients,
                "changed": changed,
                "fed": fed,
                "unused": self.feeding.unused(),
                "closure_accumulated": closure_accumulated,
                **(begun or {}),
            }
        )


def _needs_closure(optimizer: Optimizer) -> bool:
    given = inspect.signature(type(optimizer).step).parameters.get("closure")
    return given is not None and given.default is given.empty


def _owned(optimizer: Optimizer) -> list[torch.Tensor]:
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


def _standing(optimizer: Optimizer) -> list[CallStack]:
    """Return the state of an optimizer's parameters before or after a step.

    A custom one may write through `.data`, which changes no version.
    """
    own = frames.is_user_class(type(optimizer))
    return [(p._version, values_of(p) if own else None) for p in _owned(optimizer)]
