"""Finds the names that hold a tensor, spelled as the script spells them."""

from __future__ import annotations

import functools
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import BuiltinFunctionType, CellType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

import torch

from .frames import (
    Json,
    activation,
    function_name,
    is_user_class,
    is_user_module,
    local_values,
    user_frames,
)

_SKIPPED = (type, ModuleType)
_LIGHT = frozenset({int, float, str, bool, bytes, complex, type(None), torch.dtype, torch.device})
_DULL = _LIGHT | {type, ModuleType, FunctionType, BuiltinFunctionType}  # hold no tensors to see
_CONTAINERS = frozenset({dict, OrderedDict, list, tuple, set})
_OPEN = (list, tuple, deque, dict, set, frozenset, torch.nn.Module, GeneratorType)
_opaque: dict[type, bool] = {}
_HIDDEN = frozenset(  # what torch's own modules keep beside their parameters
    {
        *("_parameters", "_non_persistent_buffers_set"),
        *("_flat_weights", "_flat_weight_refs", "_flat_weights_names", "_all_weights"),
    }
)


@dataclass(frozen=True)
class Name:
    """A path to a value: where it starts, what it goes through."""

    scope: str
    path: str
    kind: str
    frame: int = 0
    containers: tuple[str, ...] = ()
    owner: str = ""

    def attribute(self, name: str, owner: str = "") -> Name:
        return Name(self.scope, f"{self.path}.{name}", "attribute", self.frame, (), owner)

    def item(self, key: object, container: str) -> Name:
        kind = "item" if self.kind in ("local", "global") else self.kind
        inside = (*self.containers, container)
        return Name(self.scope, f"{self.path}[{key!r}]", kind, self.frame, inside, self.owner)

    def record(self, when: str) -> Json:
        container = "Tensor"
        if self.containers:
            container = "[".join(self.containers) + "]" * (len(self.containers) - 1)
        return {
            "scope": self.scope,
            "path": self.path,
            "kind": self.kind,
            "container": container,
            "when": when,
            "frame": self.frame,
            "owner": self.owner,
        }


@dataclass
class Search:
    """A bounded walk over the values that names stand for.

    `wanted` says which tensors count. `deep` also looks into objects of library classes,
    functions' defaults and closures, and caches: for the one look after an error. `leaves` also
    looks at the parameters of modules, which never carry a graph. `kinds` are what is looked for.
    """

    wanted: Callable[[Any], bool]
    budget: int = 400
    depth: int = 3
    deep: bool = False
    leaves: bool = False
    kinds: tuple[type, ...] = (torch.Tensor,)
    _seen: set[int] = field(default_factory=set)

    def around(self, frame: FrameType | None) -> Iterator[tuple[Name, Any]]:
        """Every wanted tensor that the user's frames and their modules name, innermost first."""
        globals_seen: dict[int, tuple[Mapping[str, Any], int]] = {}
        for found in user_frames(frame):
            number = activation(found).number
            if found.f_code.co_name == "<module>":
                globals_seen[id(found.f_globals)] = (found.f_globals, number)
            else:
                globals_seen.setdefault(id(found.f_globals), (found.f_globals, 0))
                yield from self._locals(found, number)
        main = vars(sys.modules["__main__"])
        globals_seen.setdefault(id(main), (main, 0))
        for names, number in globals_seen.values():
            yield from self.namespace(names, "<module>", "global", number)

    def _locals(self, frame: FrameType, number: int) -> Iterator[tuple[Name, Any]]:
        scope = function_name(frame.f_code)
        free = set(frame.f_code.co_freevars)
        for name, value in local_values(frame):
            if type(value) not in _LIGHT and not isinstance(value, _SKIPPED):
                kind = "closure" if name in free else "local"
                yield from self.inside(Name(scope, name, kind, number), value, self.depth)

    def namespace(
        self, names: Mapping[str, Any], scope: str, kind: str, number: int = 0
    ) -> Iterator[tuple[Name, Any]]:
        """Every wanted tensor under the names of a module."""
        for name, value in list(names.items()):
            if not self.deep and type(value) in _DULL:
                continue
            if isinstance(name, str) and not name.startswith("__"):
                if isinstance(value, ModuleType) and self.deep and is_user_module(value):
                    if id(value) not in self._seen:
                        self._seen.add(id(value))
                        yield from self.namespace(vars(value), "<module>", "global")
                elif type(value) not in _LIGHT and not isinstance(value, _SKIPPED):
                    yield from self.inside(Name(scope, name, kind, number), value, self.depth)

    def inside(self, name: Name, value: Any, depth: int) -> Iterator[tuple[Name, Any]]:
        """Every wanted tensor that the value is or holds."""
        if isinstance(value, self.kinds):
            if self.wanted(value):
                yield name, value
            return
        if depth <= 0 or self.budget <= 0 or id(value) in self._seen:
            return
        if not self.deep and _is_opaque(type(value)) and not is_user_class(type(value)):
            return
        self._seen.add(id(value))
        for part, held in self._parts(name, value):
            self.budget -= 1
            if type(held) not in _LIGHT and not isinstance(held, _SKIPPED):
                below = depth if isinstance(held, torch.nn.Module) else depth - 1
                yield from self.inside(part, held, below)

    def _parts(self, name: Name, value: Any) -> Iterator[tuple[Name, Any]]:
        kind = type(value).__name__
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            yield from ((name.attribute(key, kind), getattr(value, key)) for key in value._fields)
        elif isinstance(value, list | tuple | deque):
            yield from ((name.item(i, kind), item) for i, item in _ends(value))
        elif isinstance(value, dict):
            entries = list(value.items())[:64]
            yield from ((name.item(key, kind), item) for key, item in entries)
        elif isinstance(value, set | frozenset):
            yield from ((name.item("…", kind), item) for item in list(value)[:16])
        elif isinstance(value, torch.nn.Module):
            if self.leaves or not _is_barren(value):
                yield from _module_parts(name, value, self.leaves)
        elif isinstance(value, FunctionType | functools.partial):
            yield from self._function_parts(name, value)
        elif isinstance(value, GeneratorType):
            names = value.gi_frame.f_locals if value.gi_frame is not None else {}
            yield from ((name.attribute(key), item) for key, item in list(names.items()))
        elif self.deep or is_user_class(type(value)):
            yield from ((name.attribute(k, kind), v) for k, v in attributes(value))

    def _function_parts(self, name: Name, value: Any) -> Iterator[tuple[Name, Any]]:
        if not self.deep:
            return
        if isinstance(value, functools.partial):
            yield name.attribute("args"), value.args
            yield name.attribute("keywords"), value.keywords
            return
        yield from ((name.attribute(k), v) for k, v in list(vars(value).items()))
        if value.__defaults__:
            arguments = value.__code__.co_varnames[: value.__code__.co_argcount]
            for key, item in zip(arguments[::-1], value.__defaults__[::-1], strict=False):
                yield Name(function_name(value.__code__), key, "local"), item
        for key, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            if isinstance(cell, CellType) and not _is_empty(cell):
                yield Name(function_name(value.__code__), key, "closure"), cell.cell_contents


def _is_opaque(kind: type) -> bool:
    """Whether only a deep search looks into objects of this class, if it is a library's."""
    found = _opaque.get(kind)
    if found is None:
        found = _opaque[kind] = not issubclass(kind, _OPEN)
    return found


def _is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _ends(value: Any) -> list[tuple[int, Any]]:
    """The first and last eight items; the last item is the one that scripts call `[-1]`."""
    size = len(value)
    numbers = list(range(size)) if size <= 16 else [*range(8), *range(size - 8, size)]
    growing = not isinstance(value, tuple)
    return [(-1 if growing and i == size - 1 and size > 1 else i, value[i]) for i in numbers]


def _is_barren(module: torch.nn.Module) -> bool:
    """Whether the module and its parts hold nothing but parameters: the usual, and quick to see."""
    for key, held in vars(module).items():
        kind = type(held)
        if kind in _LIGHT or (kind in _CONTAINERS and not held) or key in _HIDDEN:
            continue
        if key != "_modules" or not all(part is None or _is_barren(part) for part in held.values()):
            return False
    return True


def _module_parts(name: Name, value: torch.nn.Module, leaves: bool) -> Iterator[tuple[Name, Any]]:
    kind = type(value).__name__
    for key, held in list(vars(value).items()):
        if type(held) in _LIGHT or (type(held) in _CONTAINERS and not held):
            continue
        if key in ("_modules", "_buffers") or (leaves and key == "_parameters"):
            yield from ((name.attribute(k, kind), v) for k, v in list(held.items()))
        elif key not in _HIDDEN and not key.endswith("_hooks"):
            yield name.attribute(key, kind), held


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object keeps, in its dictionary and in slots."""
    yield from list(getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for key in (slots,) if isinstance(slots, str) else tuple(slots):
            if not key.startswith("__") and (held := _slot(value, key)) is not None:
                yield key, held


def _slot(value: Any, key: str) -> Any:
    try:
        return object.__getattribute__(value, key)
    except AttributeError:
        return None
