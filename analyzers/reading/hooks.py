"""Hooks: what a script has called before or after a module's forward or an optimizer's step."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import Layer, OptimizerValue
from analyzers.reading.values import AbstractValue, Instance, Sequence

_BEFORE, _AFTER = "<hooks before>", "<hooks after>"  # attributes that hold them
REGISTERED = {
    "register_forward_pre_hook": _BEFORE,
    "register_forward_hook": _AFTER,
    "register_step_pre_hook": _BEFORE,
    "register_step_post_hook": _AFTER,
}
CALLED = 8  # hooks of one moment that are followed


def register(receiver: AbstractValue, name: str, hook: AbstractValue) -> None:
    """Execute `receiver.register_…_hook(hook)`."""
    if isinstance(receiver, Layer | Instance | OptimizerValue):
        hooks = receiver.attrs.setdefault(REGISTERED[name], Sequence([]))
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
    _call(machine, receiver, _BEFORE, args, [], frame)
    value = compute()
    _call(machine, receiver, _AFTER, args, [value], frame)
    return value


def _call(
    machine: Machine,
    receiver: Layer | Instance | OptimizerValue,
    moment: str,
    args: list[AbstractValue],
    result: list[AbstractValue],
    frame: InterpreterFrame,
) -> None:
    hooks = receiver.attrs.get(moment)
    for hook in hooks.items[:CALLED] if isinstance(hooks, Sequence) else ():
        machine.call(hook, [receiver, Sequence(list(args), "tuple"), *result], {}, frame)
