"""Hooks: what a script has called before or after a module's forward or an optimizer's step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import Layer, OptimizerValue
from analyzers.reading.values import AbstractValue, Instance, Sequence

When = Literal["before", "after"]

REGISTERED: dict[str, When] = {
    "register_forward_pre_hook": "before",
    "register_forward_hook": "after",
    "register_step_pre_hook": "before",
    "register_step_post_hook": "after",
}
CALLED = 8  # hooks of one moment that are followed


def register(receiver: AbstractValue, name: str, hook: AbstractValue) -> None:
    """Execute `receiver.register_…_hook(hook)`."""
    if isinstance(receiver, Layer | Instance | OptimizerValue):
        hooks = receiver.attrs.setdefault(_key(REGISTERED[name]), Sequence([]))
        if isinstance(hooks, Sequence):
            hooks.items.append(hook)


def around(
    machine: Machine,
    receiver: Layer | Instance | OptimizerValue,
    args: list[AbstractValue],
    frame: InterpreterFrame,
    compute: Callable[[], AbstractValue],
) -> AbstractValue:
    """Return what `receiver` computes from `args`, calling its hooks before and after as torch
    does."""
    given = Sequence(list(args), "tuple")
    _call(machine, receiver, "before", [given], frame)
    value = compute()
    _call(machine, receiver, "after", [given, value], frame)
    return value


def _call(
    machine: Machine,
    receiver: Layer | Instance | OptimizerValue,
    when: When,
    given: list[AbstractValue],
    frame: InterpreterFrame,
) -> None:
    hooks = receiver.attrs.get(_key(when))
    for hook in hooks.items[:CALLED] if isinstance(hooks, Sequence) else ():
        machine.call(hook, [receiver, *given], {}, frame)


def _key(when: When) -> str:
    return f"<hooks {when}>"
