"""Lists, tuples, dicts, deques: reading, writing, iterating, and their methods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from analyzers.reading import inplace_writes
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import NameBinding, TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.operators import MAX_ITEMS
from analyzers.reading.parameters import is_cloned, leaves
from analyzers.reading.torch_values import Layer, ParametersValue, StreamValue
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Const,
    Instance,
    Mapping,
    Sequence,
    Unknown,
)
from analyzers.source import ops, priors


def part_of(
    machine: Machine, value: AbstractValue, frame: InterpreterFrame, op: str = "select"
) -> AbstractValue:
    """Return one part of something indexed, unpacked or iterated over."""
    if isinstance(value, AbstractTensor):
        part = AbstractTensor(storage=value.storage, lost=value.lost)
        part.view = True
        if value.node is not None:
            part = machine.tensor(op, (value.node,), frame, saves=False)
            part.storage, part.view = value.storage, True
        return part
    if isinstance(value, Unknown):
        node: TapeNode | None = None
        if value.node is not None:
            node = machine.tape.node(value.node.op, frame.place(), (value.node,), False)
        return Unknown(value.origin, node, value.data, value.lost)
    return Unknown(data=True)


def listed(machine: Machine, value: AbstractValue, frame: InterpreterFrame) -> list[AbstractValue]:
    """Return the items of a container, as far as they are known."""
    if isinstance(value, Sequence):
        return list(value.items)
    if isinstance(value, Mapping):
        return [Const(key) for key in value.items]
    if isinstance(value, ParametersValue):
        return list(itertools.islice(iterate(machine, value, frame), MAX_ITEMS))
    if isinstance(value, StreamValue):
        count = MAX_ITEMS if value.exact else 3
        return list(itertools.islice(value.make(), count))
    return [part_of(machine, value, frame)]


def split(
    machine: Machine, value: AbstractValue, count: int, frame: InterpreterFrame
) -> list[AbstractValue]:
    """Return the value unpacked into `count` parts."""
    if isinstance(value, Sequence | StreamValue):
        items = listed(machine, value, frame)
        if len(items) == count:
            return items
        if items:
            return [items[min(i, len(items) - 1)] for i in range(count)]
    if isinstance(value, Instance) and value.cls.fields and len(value.cls.fields) == count:
        return [value.attrs.get(name, Unknown()) for name in value.cls.fields]
    return [part_of(machine, value, frame, "unpack") for _ in range(count)]


def _parameter_of(
    machine: Machine, source: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return a parameter of something not seen: for a meta-learner's clone, an operation's
    result."""
    if is_cloned(source) and source.node is not None:
        return machine.tensor("clone", (source.node,), frame, saves=False)
    return Unknown()


def iterate(
    machine: Machine, value: AbstractValue, frame: InterpreterFrame
) -> Iterator[AbstractValue]:
    """Yield the items that a loop receives, without end if their number is not known."""
    if isinstance(value, StreamValue):
        yield from value.make()
    elif isinstance(value, Sequence):
        position = 0
        while position < len(value.items) and position < MAX_ITEMS:
            yield value.items[position]
            position += 1
        if value.open:
            last = value.items[-1] if value.items else Unknown()
            for _ in range(MAX_ITEMS):
                yield last
    elif isinstance(value, Mapping):
        yield from [Const(key) for key in value.items]
    elif isinstance(value, Layer):
        yield from value.children
    elif isinstance(value, ParametersValue):
        found: list[AbstractValue] = [*leaves(value)]
        for leaf in found or [_parameter_of(machine, value.source, frame)]:
            yield Sequence([Unknown(data=True), leaf], "tuple") if value.named else leaf
    elif isinstance(value, AbstractTensor):
        yield from _rows(machine, value, frame)
    elif not isinstance(value, Const):
        carries = value.node is not None and (machine.suspecting or value.node.strong)
        while True:  # what was not seen to be made of parameters is a loader, and gives data
            if carries and isinstance(value, Unknown) and len(value.given) > 1:
                yield Sequence([part_of(machine, one, frame) for one in value.given], "tuple")
                continue
            data = not priors.is_derived(getattr(value, "origin", ""))
            part = part_of(machine, value, frame) if carries else Unknown(data=data)
            if isinstance(part, Unknown) and isinstance(value, Unknown):
                part.whole = value
            yield part


def enough(value: AbstractValue) -> float:
    """Return after how many items of an iteration all others are alike; infinity if none are."""
    if isinstance(value, Sequence):
        return len(value.items) + 2 if value.open else math.inf
    if isinstance(value, StreamValue):
        return math.inf
    return 3 if isinstance(value, AbstractTensor | Unknown) else math.inf


def _rows(
    machine: Machine, value: AbstractTensor, frame: InterpreterFrame
) -> Iterator[AbstractValue]:
    """Yield a tensor's slices: outputs of one `unbind`."""
    whole = machine.tensor("unbind", (value.node,), frame, False) if value.node else value
    whole.storage = value.storage
    certain = value.node is None or value.node.leaf or ops.op(value.node.op) is not ops.UNKNOWN
    while True:
        part = part_of(machine, whole, frame, "unbind")
        if isinstance(part, AbstractTensor):
            part.siblings = certain
            part.whole = None if certain else value
        yield part


def fetch(
    machine: Machine, container: AbstractValue, index: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return `container[index]`."""
    if isinstance(container, Sequence):
        return _fetch_item(container, index)
    if isinstance(container, Mapping):
        if isinstance(index, Const) and not isinstance(index.value, slice):
            found = container.items.get(index.value)
            if found is not None:
                return found
        if container.rest:
            return container.rest[-1]
        if not isinstance(index, Const) and container.items:
            return next(reversed(container.items.values()))
        if container.factory is not None:
            return _made_for(machine, container, container.factory, index, frame)
        return Unknown()
    if isinstance(container, Layer) and container.children:
        position = index.value if isinstance(index, Const) else 0
        if isinstance(position, int) and -len(container.children) <= position < len(
            container.children
        ):
            return container.children[position]
        return container.children[0]
    if isinstance(container, AbstractTensor):
        return _fetch_slice(machine, container, index, frame)
    if isinstance(container, Unknown) and container.node is None and isinstance(index, Const):
        name = f"[{index.value!r}]"
        if name not in container.attrs:
            made = Unknown(container.origin, data=container.data, lost=container.lost)
            container.attrs[name] = made
        return container.attrs[name]
    return part_of(machine, container, frame)


def _made_for(
    machine: Machine,
    container: Mapping,
    factory: AbstractValue,
    index: AbstractValue,
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return what a `defaultdict` stores under a missing key."""
    made = machine.call(factory, [], {}, frame)
    if isinstance(index, Const):
        container.items[index.value] = made
    else:
        container.rest = [made]
    return made


def _fetch_item(container: Sequence, index: AbstractValue) -> AbstractValue:
    items = container.items
    if isinstance(index, Const):
        position = index.value
        if isinstance(position, slice):
            kind = "list" if container.kind == "generator" else container.kind
            return Sequence(items[position], kind, container.open)
        if isinstance(position, int) and -len(items) <= position < len(items):
            return items[position]
    return items[-1] if items else Unknown()


def _fetch_slice(
    machine: Machine, tensor: AbstractTensor, index: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return a slice: basic indexing is a view that saves nothing, a tensor index is saved."""
    advanced = isinstance(index, Sequence) and index.kind == "list"
    parts = index.items if isinstance(index, Sequence) else [index]
    if advanced or any(isinstance(part, AbstractTensor | Sequence) for part in parts):
        if tensor.node is None:
            return AbstractTensor(lost=tensor.lost)
        return machine.tensor("index", (tensor.node,), frame, saves=True)
    return part_of(machine, tensor, frame)


def store(
    machine: Machine,
    container: AbstractValue,
    index: AbstractValue,
    value: AbstractValue,
    path: str,
    frame: InterpreterFrame,
) -> None:
    """Execute `container[index] = value`."""
    key = index.value if isinstance(index, Const) else None
    if isinstance(container, AbstractTensor):
        if not isinstance(key, str):  # which no tensor has: it was taken for one
            inplace_writes.write(machine, container, "copy_", [value], frame)
        return
    if isinstance(container, Sequence):
        if isinstance(key, int) and -len(container.items) <= key < len(container.items):
            container.items[key] = value
            named_in(machine, container, key, value, path, frame)
        else:
            append(machine, container, value, path, frame)
    elif isinstance(container, Mapping):
        if isinstance(index, Const) and isinstance(key, str | int | float | bool | None):
            container.items[key] = value
        else:
            container.rest = [*container.rest[-31:], value]
        named_in(machine, container, key, value, path, frame)
    elif isinstance(container, Unknown) and isinstance(index, Const):
        container.attrs[f"[{index.value!r}]"] = value
        named_in(machine, container, index.value, value, path, frame)


def append(
    machine: Machine, target: Sequence, value: AbstractValue, path: str, frame: InterpreterFrame
) -> None:
    """Put a value at the end of a list or deque."""
    target.items.append(value)
    limit = target.maxlen or MAX_ITEMS
    if len(target.items) > limit:
        del target.items[0]
        target.open = target.open or target.maxlen is None
    named_in(machine, target, len(target.items) - 1, value, path, frame)


def extend(
    machine: Machine, target: Sequence, value: AbstractValue, frame: InterpreterFrame
) -> None:
    """Put all items of another container at the end."""
    for item in listed(machine, value, frame):
        append(machine, target, item, "", frame)
    if not isinstance(value, Sequence | Mapping):
        target.open = True


def named_in(
    machine: Machine,
    target: AbstractValue,
    key: object,
    value: AbstractValue,
    path: str,
    frame: InterpreterFrame,
) -> None:
    """Record at the graph of a stored value where it is stored."""
    names: list[NameBinding] = getattr(target, "names", [])
    kind = getattr(target, "kind", "dict")
    machine.changed = moment = machine.tape.tick()
    if names:
        outer = names[-1]
        binding = outer.within(key, kind)
        binding.log, binding.moment = [moment], moment
    else:
        binding = NameBinding(
            f"{path}[{key!r}]", frame.function, "item", kind, frame.serial, [moment], moment
        )
    machine.name(value, binding)
    machine.write((binding.path.partition("[")[0], "item"), value)
