"""Fragments of a program that is known to fail: the parts not sent are taken to do their share.

A careful reading follows only what a fragment itself makes certain, and often finds nothing. Where
the error is known, its explanation is sought among what may happen: functions that nothing calls,
and that the entry may come to, are called in turn, several times over as training would, whatever
may carry a graph carries it, and an object that is appended to is a list.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analyzers.reading import assigning, classes, frameworks
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import is_cloned
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Bound,
    Class,
    FunctionValue,
    Instance,
    MethodValue,
    Sequence,
    Unknown,
)
from analyzers.source.project import spelled
from analyzers.source.trees import nodes_of
from provenance import CodeLine

ROUNDS = 3
_OF_MODELS = frozenset({"parameters", "named_parameters", "state_dict", "train", "eval"})

Call = Callable[[Machine, FunctionValue, list[Unknown | Instance], InterpreterFrame], AbstractValue]


def live(machine: Machine, frame: InterpreterFrame, call: Call) -> None:
    """Call what nothing calls, in the order it is written, `ROUNDS` times over. `call` enters
    one function."""
    if frame.returned is not None:  # the body of a function that was sent without its head
        frameworks.run_backward(
            machine, frame.returned, CodeLine(frame.file, frame.line, "<module>")
        )
    calls = list(_uncalled(machine, frame))
    for _ in range(ROUNDS):
        for function, first in calls:
            machine.assumed.clear()
            returned = call(machine, function, first, frame)
            frameworks.run_returned(machine, function, returned)


def _uncalled(
    machine: Machine, frame: InterpreterFrame
) -> Iterator[tuple[FunctionValue, list[Unknown | Instance]]]:
    """Yield functions with their `self`.

    All methods of a class share one object, and so do methods that were sent without their class.
    """
    lone = Unknown("self")
    helpers = _share(lone, frame)
    for value in list(frame.names.values()):
        if isinstance(value, FunctionValue) and value.frame is frame:
            if id(value.definition) in machine.entered or value.name not in machine.reached:
                continue
            if value.name not in helpers:
                yield value, [lone] if _is_method(value) else []
        elif isinstance(value, Class) and value.frame is frame:
            yield from _methods(machine, value, frame)


def _share(lone: Unknown, frame: InterpreterFrame) -> frozenset[str]:
    """Give the object of methods that were sent without their class these methods; the names of
    those that others of them ask it for."""
    own = [f for f in frame.names.values() if isinstance(f, FunctionValue) and f.frame is frame]
    methods = [f for f in own if _is_method(f) or "staticmethod" in f.tags]
    for method in methods:
        lone.attrs[method.name] = Bound(method, lone) if _is_method(method) else method
    return frozenset(
        node.attr
        for method in methods
        for node in nodes_of(method.definition, ast.Attribute)
        if spelled(node.value) == "self" and node.attr in lone.attrs and node.attr != method.name
    )


def _methods(
    machine: Machine, cls: Class, frame: InterpreterFrame
) -> Iterator[tuple[FunctionValue, list[Unknown | Instance]]]:
    if classes.is_autograd_function(cls) or cls.engine:
        return
    methods = [value for value in cls.attrs.values() if isinstance(value, FunctionValue)]
    own = [m for m in methods if _is_method(m) and not m.name.startswith("__")]
    if any(id(method.definition) in machine.entered for method in own):
        return
    if cls.name not in machine.reached and not any(m.name in machine.reached for m in own):
        return
    instance = classes.instantiate(machine, cls, [], {}, frame)
    if isinstance(instance, Instance):
        for method in own:
            yield method, [instance]


def _is_method(function: FunctionValue) -> bool:
    arguments = function.definition.args.args
    return bool(arguments) and arguments[0].arg == "self" and "property" not in function.tags


def grown(machine: Machine, call: ast.Call, frame: InterpreterFrame) -> Sequence | None:
    """Return the list that an unknown object must be when something is appended to it, or None."""
    target = call.func
    if not isinstance(target, ast.Attribute) or target.attr != "append":
        return None
    if not isinstance(target.value, ast.Name | ast.Attribute):
        return None
    grown = Sequence([], open_=True)
    assigning.assign(machine, target.value, grown, frame)
    return grown


def of_model(
    machine: Machine, func: ast.expr, method: MethodValue, frame: InterpreterFrame
) -> MethodValue:
    """Return `parameters`, or another method of models, of its owner as a model."""
    owner = method.receiver
    if method.name not in _OF_MODELS or not isinstance(func, ast.Attribute):
        return method
    if not isinstance(owner, AbstractTensor | Unknown):
        return method
    return MethodValue(as_model(machine, func.value, owner, frame), method.name)


def as_model(
    machine: Machine, target: ast.expr, value: AbstractTensor | Unknown, frame: InterpreterFrame
) -> AbstractValue:
    """Return what was taken for a tensor and is called as a model, and bind its name to that."""
    if (isinstance(value, Unknown) and value.node is None) or is_cloned(value):
        return value
    if isinstance(target, ast.Name):
        model = Unknown(target.id)
    elif isinstance(target, ast.Attribute) and spelled(target.value) == "self":
        model = Unknown(target.attr)
    else:
        return value
    assigning.assign(machine, target, model, frame)
    return model
