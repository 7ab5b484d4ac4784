"""Registers optimizers: their numbers, how often each stepped, and how their parameters are."""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from dataclasses import dataclass

import torch
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer

from ..core import frames
from ..core.clock import CLOCK
from ..core.frames import Json
from ..core.parameters import values_of, version_of
from ..core.sampling import sampled

MANY = 8  # optimizers: beyond, steps are sampled together, not those of each
ParameterState = tuple[int, tuple[float, float] | None]  # how often it was written; what it holds


@dataclass(slots=True, eq=False)
class KnownOptimizer:
    """What is known of an optimizer; it has a number if its parameters were seen as it took them.

    `before` is how its parameters are before the step that runs, and `before_rest` before those
    that are not examined; `last` is the latest of these. `led_by` is the instance's own `step` that
    led to the class's.
    """

    alive: weakref.ref[Optimizer]
    number: int = -1
    steps: int = 0
    last: int | None = None
    before: list[ParameterState] | None = None
    before_rest: list[ParameterState] | None = None
    read: list[Json] | None = None
    begun: Json | None = None
    closure_accumulated: int = 0
    led_by: object = None


class OptimizerRegistry:
    """The optimizers that took parameters, in the order in which they did."""

    def __init__(self) -> None:
        self.known: dict[int, KnownOptimizer] = {}  # by the identity of those that are alive
        self.totals: Counter[int] = Counter()  # steps by optimizer, those that are gone, too
        self.latest: dict[int, int] = {}  # which step of all was the latest of each
        self.made = 0

    def of(self, optimizer: Optimizer) -> KnownOptimizer:
        """Return what is known of an optimizer, a new entry if nothing is."""
        key = id(optimizer)
        one = self.known.get(key)
        if one is None:
            alive = weakref.ref(optimizer, lambda _: self.known.pop(key, None))
            one = self.known[key] = KnownOptimizer(alive)
        return one

    def alive(self) -> list[Optimizer]:
        """Return the optimizers that are alive."""
        met = [one.alive() for one in self.known.values() if one.number >= 0]
        return [alive for alive in met if alive is not None]

    def is_led_by(self, optimizer: Optimizer, step: object) -> bool:
        """Return True if the instance's own `step` has led to the class's."""
        return self.of(optimizer).led_by is step

    def passes(self) -> int:
        """Return the iteration that the training is in: every optimizer has stepped so often."""
        return min((one.steps for one in self.known.values()), default=0)

    def is_due(self, optimizer: Optimizer, n: int) -> bool:
        """Return True if this step of the optimizer, the `n`th of the run, is one of the sample.

        The sample is drawn for each optimizer: two that are made one are sampled alike.
        """
        own = sampled(self.of(optimizer).steps + 1)
        return own and (self.made <= MANY or sampled(n))

    @staticmethod
    def is_still(optimizer: Optimizer) -> bool:
        """Return True if torch's own optimizer changes no value, as each learning rate is 0."""
        own = frames.is_user_class(type(optimizer))
        return not own and all(group.get("lr") == 0 for group in optimizer.param_groups)

    def count(self, one: KnownOptimizer) -> None:
        """Count a step."""
        one.steps += 1
        self.totals[one.number] += 1
        self.latest[one.number] = CLOCK.steps


def needs_closure(optimizer: Optimizer) -> bool:
    """Return True if an optimizer cannot step without a closure."""
    given = inspect.signature(type(optimizer).step).parameters.get("closure")
    return given is not None and given.default is given.empty


def owned_by(optimizer: Optimizer) -> list[torch.Tensor]:
    """Return the parameters of all its groups."""
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


def state_of(optimizer: Optimizer) -> list[ParameterState]:
    """Return the state of an optimizer's parameters before or after a step.

    A custom one may write through `.data`, which changes no version, and an inference tensor has
    none.
    """
    own = frames.is_user_class(type(optimizer))
    return [
        (version_of(p), values_of(p) if own or is_lazy(p) or p.is_inference() else None)
        for p in owned_by(optimizer)
    ]
