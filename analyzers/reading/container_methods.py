"""Methods of lists, deques, sets and dicts."""

from __future__ import annotations

from analyzers.reading.containers import append, extend, named_in, store
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import NONE, AbstractValue, Const, Mapping, Sequence, Unknown


def method(
    machine: Machine,
    receiver: AbstractValue,
    name: str,
    args: list[AbstractValue],
    path: str,
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a method of a list, deque, set or dict."""
    if isinstance(receiver, Sequence):
        return _sequence_method(machine, receiver, name, args, path, frame)
    assert isinstance(receiver, Mapping)
    return _mapping_method(machine, receiver, name, args, path, frame)


def _sequence_method(
    machine: Machine,
    receiver: Sequence,
    name: str,
    args: list[AbstractValue],
    path: str,
    frame: InterpreterFrame,
) -> AbstractValue:
    match name:
        case "append" | "add" | "push" | "put" if args:
            append(machine, receiver, args[0], path, frame)
        case "appendleft" if args:
            receiver.items.insert(0, args[0])
            named_in(machine, receiver, 0, args[0], path, frame)
        case "insert" if len(args) > 1:
            receiver.items.insert(0, args[1])
            named_in(machine, receiver, 0, args[1], path, frame)
        case "extend" | "update" if args:
            extend(machine, receiver, args[0], frame)
        case "pop" | "popleft":
            first = name == "popleft" or (args and isinstance(args[0], Const) and not args[0].value)
            if receiver.items:
                return receiver.items.pop(0 if first else -1)
            return Unknown()
        case "clear":
            receiver.items.clear()
            receiver.open = False
        case "copy":
            return Sequence(list(receiver.items), receiver.kind, receiver.open)
        case "reverse":
            receiver.items.reverse()
        case "index" | "count":
            return Unknown(data=True)
    return NONE


def _mapping_method(
    machine: Machine,
    receiver: Mapping,
    name: str,
    args: list[AbstractValue],
    path: str,
    frame: InterpreterFrame,
) -> AbstractValue:
    match name:
        case "get" | "setdefault" | "pop" if args:
            key = args[0]
            if isinstance(key, Const) and key.value in receiver.items:
                found = receiver.items[key.value]
                if name == "pop":
                    del receiver.items[key.value]
                return found
            default = args[1] if len(args) > 1 else NONE
            if name == "setdefault":
                store(machine, receiver, key, default, path, frame)
                return default
            return receiver.rest[-1] if receiver.rest else default
        case "items":
            pairs = [Sequence([Const(k), v], "tuple") for k, v in receiver.items.items()]
            pairs += [Sequence([Unknown(data=True), v], "tuple") for v in receiver.rest]
            return Sequence(list(pairs))
        case "values":
            return Sequence([*receiver.items.values(), *receiver.rest])
        case "keys":
            return Sequence([Const(key) for key in receiver.items])
        case "update" if args and isinstance(args[0], Mapping):
            for name_, item in args[0].items.items():
                store(machine, receiver, Const(name_), item, path, frame)
        case "clear":
            receiver.items.clear()
            receiver.rest.clear()
        case "copy":
            copy = Mapping(dict(receiver.items))
            copy.rest = list(receiver.rest)
            return copy
    return NONE
