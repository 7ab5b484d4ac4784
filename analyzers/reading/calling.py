"""Calls: functions of the script are entered, everything else is modelled."""

from __future__ import annotations

import ast
from functools import partial

from analyzers.reading import (
    classes,
    container_methods,
    guesses,
    hooks,
    library,
    suspicion,
    tensors,
    unknowns,
)
from analyzers.reading.dispatch import callable_kind
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import MAX_CALLS, MAX_RECURSION, Machine
from analyzers.reading.torch_values import Layer
from analyzers.reading.values import (
    NONE,
    OTHERS,
    AbstractTensor,
    AbstractValue,
    Bound,
    Class,
    Const,
    FunctionValue,
    Instance,
    Library,
    Mapping,
    MethodValue,
    Native,
    Sequence,
    Unknown,
)
from analyzers.source.flow import yields
from analyzers.source.project import spelled

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def call_at(
    machine: Machine,
    node: ast.Call,
    callee: AbstractValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a call in the source: container methods need the receiver's spelling."""
    if isinstance(callee, MethodValue):
        receiver = callee.receiver
        if isinstance(receiver, Sequence | Mapping):
            path = "" if receiver.names else spelled(node.func.value)  # type: ignore[attr-defined]
            return container_methods.method(machine, receiver, callee.name, args, path, frame)
        callee = suspicion.of_model(machine, node.func, callee, frame)
    elif isinstance(callee, Unknown):
        grown = suspicion.grown(machine, node, frame) if machine.suspecting else None
        if grown is not None:
            return container_methods.method(machine, grown, "append", args, "", frame)
        callee = suspicion.as_model(machine, node.func, callee, frame)
    elif isinstance(callee, AbstractTensor):
        callee = suspicion.as_model(machine, node.func, callee, frame)
    elif isinstance(callee, Library) and callee.path == "builtins.super":
        return classes.super_value(frame)
    line = frame.line
    consumer = machine.consumers.get(node)
    machine.consumer = consumer if consumer is not None and is_generator(callee) else None
    value = machine.call(callee, args, kwargs, frame)
    machine.consumer = None
    frame.line = line
    return value


def is_generator(callee: AbstractValue) -> bool:
    """Return True if a call of it makes one of the script's generators."""
    function = callee.function if isinstance(callee, Bound) else callee
    return isinstance(function, FunctionValue) and yields(function.definition)


@callable_kind(FunctionValue)
def call_function(
    machine: Machine,
    function: FunctionValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Enter a function of the script with a new frame."""
    key: object = None
    if function.cached is not None:
        key = tuple(_cache_key(v) for v in (*args, *kwargs.values()))
        if key in function.cached:
            return function.cached[key]
    definition = function.definition
    if len(machine.active) >= MAX_CALLS or machine.active.count(definition) >= MAX_RECURSION:
        machine.gave_up("calls nested too deeply")
        return Unknown(function.name)
    machine.active.append(definition)
    try:
        value = _enter(machine, function, args, kwargs, frame)
    finally:
        machine.active.pop()
    if function.cached is not None:
        function.cached[key] = value
    return value


def _cache_key(value: AbstractValue) -> object:
    return ("const", repr(value.value)) if isinstance(value, Const) else id(value)


def _enter(
    machine: Machine,
    function: FunctionValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    definition = function.definition
    inner = machine.new_frame(
        function.frame.file,
        function.qualified,
        parent=function.frame,
        caller=frame,
        module=function.frame.module or function.frame,
    )
    inner.owner = function.owner
    inner.consumer, machine.consumer = machine.consumer, None
    machine.entered.add(id(definition))
    inner.line = definition.lineno
    bind_arguments(machine, function, args, kwargs, inner)
    if isinstance(definition, ast.Lambda):
        value = machine.evaluate(definition.body, inner)
        inner.leave(machine.tape.tick())
        return value
    grad = machine.grad
    machine.grad = grad and not function.no_grad
    try:
        machine.execute(definition.body, inner)
    finally:
        machine.grad = grad
    inner.leave(machine.tape.tick())
    if inner.yields is not None:
        return Sequence(inner.yields, "generator")
    return inner.returned or NONE


def bind_arguments(
    machine: Machine,
    function: FunctionValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    inner: InterpreterFrame,
) -> None:
    """Give the parameters their values; unknown where an argument is missing."""
    parameters = function.definition.args
    positional = [*parameters.posonlyargs, *parameters.args]
    given = dict(kwargs)
    for arg, value in zip(positional, args, strict=False):
        machine.bind(inner, arg.arg, value)
    for arg in [*positional[len(args) :], *parameters.kwonlyargs]:
        name = arg.arg
        if name in given:
            value = given.pop(name)
        elif name in function.defaults:
            value = function.defaults[name]
        else:
            value = guesses.argument(machine, function, name, inner)
        machine.bind(inner, name, value)
    if parameters.vararg is not None:
        rest = Sequence(list(args[len(positional) :]), "tuple")
        machine.bind(inner, parameters.vararg.arg, rest)
    if parameters.kwarg is not None:
        others = given.pop(OTHERS, None)
        named = Mapping(given)
        named.rest += [others] if others is not None else []
        machine.bind(inner, parameters.kwarg.arg, named)


@callable_kind(Bound)
def _call_bound(
    machine: Machine,
    bound: Bound,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    return machine.call(bound.function, [bound.receiver, *args], kwargs, frame)


@callable_kind(Native)
def _call_native(
    machine: Machine,
    native: Native,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    return native.call(args, kwargs)


@callable_kind(Instance)
def _call_instance(
    machine: Machine,
    instance: Instance,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    for name in ("__call__", "forward"):
        method = instance.cls.lookup(name)
        if method is not None:
            made = partial(machine.call, method, [instance, *args], kwargs, frame)
            return hooks.around(machine, instance, args, frame, made)
    if classes.is_chain(instance.cls) and len(args) == 1:
        value = args[0]
        for part in instance.attrs.values():
            if isinstance(part, Layer | Instance):
                value = machine.call(part, [value], {}, frame)
        return value
    return unknowns.call_unknown(machine, Unknown(instance.cls.name), args, kwargs, frame)


@callable_kind(MethodValue)
def _call_method(
    machine: Machine,
    method: MethodValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    receiver = method.receiver
    if isinstance(receiver, Sequence | Mapping):
        return container_methods.method(machine, receiver, method.name, args, "", frame)
    return tensors.method(machine, receiver, method.name, args, kwargs, frame)


callable_kind(Class)(classes.instantiate)
callable_kind(Library)(library.call)
callable_kind(Unknown)(unknowns.call_unknown)
