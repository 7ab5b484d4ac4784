"""The functions and classes of Python's library that matter to graphs."""

from __future__ import annotations

from analyzers.reading import backward_calls, containers
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.python_calls import Args, Kwargs, Model, same, to_dict, to_list, to_range
from analyzers.reading.torch_values import Layer
from analyzers.reading.values import (
    NONE,
    OTHERS,
    AbstractTensor,
    AbstractValue,
    Const,
    Instance,
    Mapping,
    Native,
    Sequence,
    Unknown,
)

MESSAGE = "Only Tensors created explicitly by the user support the deepcopy protocol"
MAX_DEPTH = 6


def _partial(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    if not args:
        return Unknown()
    function, given = args[0], args[1:]
    return Native(
        lambda more, named: machine.call(function, [*given, *more], {**kwargs, **named}, frame)
    )


def _deque(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    made = to_list(machine, args[:1], {}, frame)
    assert isinstance(made, Sequence)
    made.kind = "deque"
    limit = kwargs.get("maxlen", args[1] if len(args) > 1 else NONE)
    made.maxlen = limit.value if isinstance(limit, Const) and isinstance(limit.value, int) else None
    if made.maxlen is not None:
        made.maxlen = max(made.maxlen, 1)
    return made


def _default_dict(
    machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    made = Mapping()
    made.factory = args[0] if args else None
    return made


def _field(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    made = Unknown("field", data=True)
    made.attrs.update(kwargs)
    if "default" in kwargs:
        return kwargs["default"]
    return made


def _object(machine: Machine, args: Args, kwargs: Kwargs, frame: InterpreterFrame) -> AbstractValue:
    made = Unknown("namespace")
    made.attrs.update(kwargs)
    return made


MODELLED: dict[str, Model] = {
    "functools.partial": _partial,
    "collections.deque": _deque,
    "collections.defaultdict": _default_dict,
    "collections.OrderedDict": to_dict,
    "dataclasses.field": _field,
    "dataclasses.replace": lambda m, a, k, f: with_changes(a[0], k) if a else Unknown(),
    "types.SimpleNamespace": _object,
    "argparse.ArgumentParser": lambda m, a, k, f: argument_parser(),
    "argparse.Namespace": _object,
    "tqdm.tqdm": same,
    "tqdm.auto.tqdm": same,
    "tqdm.notebook.tqdm": same,
    "tqdm": same,
    "tqdm.trange": to_range,
    "copy.copy": same,
    "copy.deepcopy": lambda m, a, k, f: deep_copy(m, a[0], f) if a else Unknown(),
    "itertools.chain": lambda m, a, k, f: Sequence(
        [item for arg in a for item in containers.listed(m, arg, f)]
    ),
}


def deep_copy(
    machine: Machine, value: AbstractValue, frame: InterpreterFrame, depth: int = 0
) -> AbstractValue:
    """Return the deep copy of a value; parameters become parameters of their own."""
    if depth > MAX_DEPTH:
        return Unknown()

    def copied(inner: AbstractValue) -> AbstractValue:
        return deep_copy(machine, inner, frame, depth + 1)

    if isinstance(value, AbstractTensor):
        return _copied_tensor(machine, value, frame)
    if isinstance(value, Layer):
        leaf = leaf_tensor(machine, frame) if value.leaf is not None else None
        if leaf is not None and leaf.node is not None and value.leaf is not None:
            leaf.node.trainable = value.leaf.node is not None and value.leaf.node.trainable
        layer = Layer(value.kind, leaf, [copied(child) for child in value.children])
        layer.options = value.options
        layer.attrs = {name: copied(item) for name, item in value.attrs.items()}
        return layer
    if isinstance(value, Sequence):
        return Sequence([copied(item) for item in value.items], value.kind, value.open)
    if isinstance(value, Mapping):
        return Mapping({key: copied(item) for key, item in value.items.items()})
    if isinstance(value, Instance):
        twin = Instance(value.cls)
        twin.attrs = {name: copied(item) for name, item in value.attrs.items()}
        return twin
    return value


def with_changes(value: AbstractValue, changes: dict[str, AbstractValue]) -> AbstractValue:
    """Return the result of `dataclasses.replace`: a new instance with some fields changed.

    If a name is not known, any field may have changed.
    """
    if not isinstance(value, Instance):
        return Unknown()
    twin = Instance(value.cls)
    kept = {name: Unknown(name) for name in value.attrs} if OTHERS in changes else value.attrs
    twin.attrs = {**kept, **{name: item for name, item in changes.items() if name != OTHERS}}
    return twin


def _copied_tensor(
    machine: Machine, tensor: AbstractTensor, frame: InterpreterFrame
) -> AbstractValue:
    node = tensor.node
    if node is None:
        return AbstractTensor(scalar=tensor.scalar, lost=tensor.lost)
    if node.leaf:
        twin = leaf_tensor(machine, frame)
        if twin.node is not None:
            twin.node.trainable = node.trainable
        return twin
    if node.strong:
        backward_calls.refused(machine, tensor, "deepcopy", MESSAGE, frame)
    return AbstractTensor()


def argument_parser() -> AbstractValue:
    """Return an `argparse.ArgumentParser` whose parsed options have their defaults."""
    options = Unknown("args", data=True)
    made = Unknown("parser", data=True)

    def add(more: list[AbstractValue], named: dict[str, AbstractValue]) -> AbstractValue:
        flags = [a.value for a in more if isinstance(a, Const) and isinstance(a.value, str)]
        flag = named.get("dest", Const(max(flags, key=len) if flags else ""))
        name = str(flag.value).lstrip("-").replace("-", "_") if isinstance(flag, Const) else ""
        action = named.get("action")
        if "default" in named:
            options.attrs[name] = named["default"]
        elif isinstance(action, Const) and action.value in ("store_true", "store_false"):
            options.attrs[name] = Const(action.value == "store_false")
        return Unknown(data=True)

    made.attrs["add_argument"] = Native(add)
    made.attrs["add_argument_group"] = Native(lambda more, named: made)
    made.attrs["parse_args"] = Native(lambda more, named: options)
    made.attrs["parse_known_args"] = Native(
        lambda more, named: Sequence([options, Sequence([])], "tuple")
    )
    return made
