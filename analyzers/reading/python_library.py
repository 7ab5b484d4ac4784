"""The functions and classes of Python's library that matter to graphs."""

from __future__ import annotations

from analyzers.reading import command_line, containers, copying
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.python_calls import Args, Kwargs, Model, same, to_dict, to_list, to_range
from analyzers.reading.values import NONE, AbstractValue, Const, Mapping, Native, Sequence, Unknown


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
    "dataclasses.replace": lambda m, a, k, f: copying.changed(a[0], k) if a else Unknown(),
    "types.SimpleNamespace": _object,
    "argparse.ArgumentParser": lambda m, a, k, f: command_line.parser(),
    "argparse.Namespace": _object,
    "tqdm.tqdm": same,
    "tqdm.auto.tqdm": same,
    "tqdm.notebook.tqdm": same,
    "tqdm": same,
    "tqdm.trange": to_range,
    "copy.copy": same,
    "copy.deepcopy": lambda m, a, k, f: copying.deep(m, a[0], f) if a else Unknown(),
    "itertools.chain": lambda m, a, k, f: Sequence(
        [item for arg in a for item in containers.listed(m, arg, f)]
    ),
}
