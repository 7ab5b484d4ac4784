"""Python's own functions."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from analyzers.reading import attributes, containers, operators, value_graphs
from analyzers.reading.conditions import key_of, unknown
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaves
from analyzers.reading.torch_values import Layer, ParametersValue, StreamValue
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Const,
    Instance,
    Mapping,
    Sequence,
    Unknown,
)

Args = list[AbstractValue]
Kwargs = dict[str, AbstractValue]
Model = Callable[[Machine, Args, Kwargs, InterpreterFrame], AbstractValue]


def call(
    machine: Machine, name: str, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Return the result of a builtin function."""
    modelled = _BUILTINS.get(name)
    if modelled is not None:
        return modelled(machine, args, kwargs, frame)
    if name in ("float", "int", "bool"):
        return _number(name, args, frame)
    return Unknown(data=True)


def _number(name: str, args: Args, frame: InterpreterFrame) -> AbstractValue:
    if args and isinstance(args[0], AbstractTensor):
        node = args[0].node
        lost = Lost("item", frame.place(), (node,)) if node is not None else args[0].lost
        return AbstractTensor(lost=lost, scalar=True)
    if args and isinstance(args[0], Const) and isinstance(args[0].value, int | float):
        value = args[0].value
        return Const(
            float(value) if name == "float" else int(value) if name == "int" else bool(value)
        )
    return Unknown(data=True, lost=value_graphs.lost_by(args))


def to_range(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    bounds = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
    if len(bounds) == len(args) and bounds and not (len(bounds) == 3 and bounds[2] == 0):
        exact = range(*bounds)
        return StreamValue(lambda: (Const(i) for i in exact), exact=True)
    start = bounds[0] if len(args) > 1 and isinstance(args[0], Const) and bounds else 0
    if len(args) > 1 and not isinstance(args[0], Const):
        return StreamValue(lambda: iter(lambda: Unknown(data=True), None))
    return StreamValue(lambda: (Const(i) for i in itertools.count(start)))


def _enumerate(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    source = args[0] if args else Unknown()
    first = kwargs.get("start", args[1] if len(args) > 1 else Const(0))
    start = first.value if isinstance(first, Const) and isinstance(first.value, int) else 0

    def pairs() -> Iterator[AbstractValue]:
        for i, item in enumerate(containers.iterate(machine, source, frame), start):
            yield Sequence([Const(i), item], "tuple")

    return StreamValue(pairs, exact=not isinstance(source, Unknown))


def _zip(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    def rows() -> Iterator[AbstractValue]:
        streams = [containers.iterate(machine, arg, frame) for arg in args]
        for row in zip(*streams, strict=False):
            yield Sequence(list(row), "tuple")

    return StreamValue(rows, exact=any(isinstance(a, Sequence | StreamValue) for a in args))


def same(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    return args[0] if args else Unknown(data=True)


def _length(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    value = args[0] if args else Unknown()
    if isinstance(value, Sequence) and not value.open:
        machine.measured.setdefault(id(value), (value, set()))
        machine.asked = id(value)
        return Const(len(value.items))
    if isinstance(value, Mapping) and not value.rest:
        return Const(len(value.items))
    return unknown("len", key_of(value))


def to_list(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    if not args:
        return Sequence([])
    source = args[0]
    open_ = isinstance(source, Unknown | AbstractTensor) or (
        isinstance(source, StreamValue) and not source.exact
    )
    return Sequence(containers.listed(machine, source, frame), "list", open_)


def _tuple(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    made = to_list(machine, args, kwargs, frame)
    assert isinstance(made, Sequence)
    made.kind = "tuple"
    return made


def to_dict(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    found = Mapping(dict(kwargs))
    if args and isinstance(args[0], ParametersValue):
        found.items.update(enumerate(leaves(args[0])))
    if args and isinstance(args[0], Mapping):
        found.items = {**args[0].items, **found.items}
    if args and isinstance(args[0], Sequence | StreamValue):
        for pair in containers.listed(machine, args[0], frame):
            if isinstance(pair, Sequence) and len(pair.items) == 2:
                _put(found, *pair.items)
    return found


def _put(target: Mapping, key: AbstractValue, value: AbstractValue) -> None:
    if isinstance(key, Const):
        target.items[key.value] = value
    else:
        target.rest.append(value)


def _sum(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    items = containers.listed(machine, args[0], frame) if args else []
    if any(isinstance(item, Instance) for item in (*items, *args[1:])):  # of an own engine
        total = [*args[1:], kwargs.get("start", Const(0))][0]
        for item in items:
            total = operators.binary(machine, ast.Add(), total, item, frame)
        return total
    return operators.operate(machine, "add", args, frame)


def _extreme(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    numbers = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int | float)]
    if len(numbers) == len(args) > 1:
        return Unknown(data=True)
    with_graph = [a for a in args if value_graphs.graphs([a])]
    return with_graph[0] if with_graph else Unknown(data=True)


def _map(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    if len(args) < 2:
        return Unknown()
    rows = [containers.listed(machine, arg, frame) for arg in args[1:]]
    return Sequence([machine.call(args[0], list(r), {}, frame) for r in zip(*rows, strict=False)])


def _isinstance(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    if len(args) < 2:
        return Unknown(data=True)
    value, kinds = args[:2]
    names = {
        getattr(k, "path", getattr(k, "origin", "")).rpartition(".")[2] or getattr(k, "name", "")
        for k in (kinds.items if isinstance(kinds, Sequence) else [kinds])
    }
    if isinstance(value, Sequence):
        return Const(value.kind in names or (value.kind == "generator" and "list" in names))
    if isinstance(value, Mapping):
        return Const("dict" in names)
    if isinstance(value, AbstractTensor):
        return Const("Tensor" in names)
    if isinstance(value, Const):
        return Const(type(value.value).__name__ in names)
    if isinstance(value, Instance):
        return Const(any(cls.name in names for cls in value.cls.lineage()) or "Module" in names)
    if isinstance(value, Layer):
        return Const(value.kind in names or "Module" in names)
    return unknown("isinstance", key_of(value), tuple(sorted(names)))


def _getattr(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    if len(args) > 1 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        owner, name = args[0], args[1].value
        if len(args) > 2 and isinstance(owner, Instance):
            if name not in owner.attrs and owner.cls.lookup(name) is None:
                return args[2]
        return attributes.read(machine, owner, name, frame)
    return Unknown()


def _hasattr(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    if len(args) > 1 and isinstance(args[1], Const) and isinstance(args[0], Instance):
        name = str(args[1].value)
        if name in args[0].attrs or args[0].cls.lookup(name) is not None:
            return Const(True)
        return Const(False) if not args[0].cls.library_bases() else Unknown(data=True)
    return unknown("hasattr", *(key_of(a) for a in args))


def _setattr(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    attrs = getattr(args[0], "attrs", None) if len(args) > 2 else None
    if isinstance(attrs, dict) and isinstance(args[1], Const):
        attrs[str(args[1].value)] = args[2]
        machine.changed = machine.tape.moment
    return NONE


def _iter(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    """Return an iterator over a finite iterable: it continues where it stopped."""
    source = same(machine, args, kwargs, frame)
    ends = isinstance(source, Sequence) and source.kind != "generator" and not source.open
    if not ends and not (isinstance(source, StreamValue) and source.exact):
        return source
    items = itertools.chain(containers.iterate(machine, source, frame))
    return StreamValue(lambda: items, exact=True)


def _next(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    if args and isinstance(args[0], Sequence) and args[0].kind == "generator" and args[0].items:
        return args[0].items.pop(0)
    missing = args[1] if len(args) > 1 else Unknown()
    return next(containers.iterate(machine, args[0], frame), missing) if args else Unknown()


def _print(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    return NONE


_BUILTINS: dict[str, Model] = {
    "range": to_range,
    "enumerate": _enumerate,
    "zip": _zip,
    "iter": _iter,
    "reversed": same,
    "abs": lambda m, a, k, f: operators.operate(m, "abs", a, f),
    "len": _length,
    "list": to_list,
    "tuple": _tuple,
    "set": to_list,
    "sorted": to_list,
    "dict": to_dict,
    "sum": _sum,
    "max": _extreme,
    "min": _extreme,
    "map": _map,
    "isinstance": _isinstance,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "next": _next,
    "object": lambda m, a, k, f: Const(object()),
    "print": _print,
}
