"""What a value holds, one step down, and how each part is named."""

from __future__ import annotations

import functools
import gc
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, GeneratorType, ModuleType
from typing import Any

import torch

from .frames import OWNERS, USER, activation, function_name, is_user_class, local_values
from .value_names import Name

Extend = Callable[[Name, Any, str], Name]  # from the whole's name, the key, the whole's class
Part = tuple[Extend, Any, Any]  # how to name it, its key, itself

LIGHT: frozenset[type] = frozenset(
    {int, float, str, bool, bytes, complex, type(None), torch.dtype, torch.device}
)
Cached = type(functools.lru_cache(int))
_CONTAINERS = frozenset({dict, OrderedDict, list, tuple, set})
_OPEN = (
    *(list, tuple, deque, dict, set, frozenset, GeneratorType),
    *(torch.nn.Module, torch.Tensor),
)
_SKIPPED = (type, ModuleType)
_HIDDEN = frozenset(  # what torch's own modules keep besides their parameters
    {
        *("_parameters", "_non_persistent_buffers_set"),
        *("_flat_weights", "_flat_weight_refs", "_flat_weights_names", "_all_weights"),
    }
)


def keeps(value: Any) -> bool:
    """Return True if the value is a function of the user's that has a closure, or defaults."""
    if type(value) is not FunctionType or not (value.__closure__ or value.__defaults__):
        return False
    return OWNERS[value.__code__.co_filename] is USER


class Passed(dict[type, bool]):
    """By class of a value, whether to pass by without a look; a table, for it is asked often.

    Scalars, modules and classes hold no tensors of their own. Unless the look is `deep`, functions
    and objects of library classes that are no containers are passed by too, but see `keeps`.
    """

    def __init__(self, *, deep: bool) -> None:
        super().__init__(dict.fromkeys(LIGHT, True))
        self._deep = deep

    def __missing__(self, kind: type) -> bool:
        empty = issubclass(kind, _SKIPPED)
        closed = not (self._deep or issubclass(kind, _OPEN) or is_user_class(kind))
        passed = self[kind] = empty or closed
        return passed


PASSED = {deep: Passed(deep=deep) for deep in (False, True)}


def parts(value: Any, deep: bool, leaves: bool) -> Iterator[Part]:
    """Yield what the value holds.

    `deep` looks into every object, functions and caches included; `leaves` at the parameters of
    modules.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ((Name.attribute, key, getattr(value, key)) for key in value._fields)
    if isinstance(value, list | tuple | deque):
        return ((Name.item, i, item) for i, item in _ends(value))
    if isinstance(value, dict):
        return ((Name.item, key, item) for key, item in list(dict.items(value))[:64])
    if isinstance(value, set | frozenset):
        return ((Name.item, "…", item) for item in list(value)[:16])
    if isinstance(value, torch.nn.Module):
        return iter(()) if not leaves and _is_barren(value) else _of_module(value, leaves)
    if isinstance(value, GeneratorType):
        return _of_generator(value)
    if isinstance(value, FunctionType):
        return _of_function(value)
    if deep and isinstance(value, Cached):
        return _of_cache(value)
    if deep and isinstance(value, functools.partial):
        return iter(((_plain, "args", value.args), (_plain, "keywords", value.keywords)))
    if deep or is_user_class(type(value)):
        return ((Name.attribute, key, held) for key, held in attributes(value))
    return iter(())


def _plain(name: Name, key: Any, _kind: str) -> Name:
    """Return the name of an attribute that no method calls `self.…`."""
    return name.attribute(key)


def _of_module(value: torch.nn.Module, leaves: bool) -> Iterator[Part]:
    for key, held in list(vars(value).items()):
        kind = type(held)
        if kind in LIGHT or (kind in _CONTAINERS and not held):
            continue
        if key in ("_modules", "_buffers") or (leaves and key == "_parameters"):
            for own, item in list(held.items()):
                yield Name.attribute, own, item
        elif key not in _HIDDEN and not key.endswith("_hooks"):
            yield Name.attribute, key, held


def _is_barren(module: torch.nn.Module) -> bool:
    """Return True if the module and its parts hold only parameters: the usual, and quick to see."""
    for key, held in vars(module).items():
        kind = type(held)
        if kind in LIGHT or (kind in _CONTAINERS and not held) or key in _HIDDEN:
            continue
        if key != "_modules":
            return False
        for part in held.values():
            if part is not None and not _is_barren(part):
                return False
    return True


def _of_generator(value: GeneratorType[Any, Any, Any]) -> Iterator[Part]:
    """Yield the names of a generator's frame, as its own code writes them."""
    frame = value.gi_frame
    if frame is None:
        return
    scope, number = function_name(frame.f_code), activation(frame).number
    for key, held in local_values(frame):
        yield _in_scope(scope, "local", number), key, held


def _of_function(value: FunctionType) -> Iterator[Part]:
    """Yield a function's attributes, defaults and closure."""
    for key, held in list(vars(value).items()):
        yield _plain, key, held
    scope, code = function_name(value.__code__), value.__code__
    if value.__defaults__:
        arguments = code.co_varnames[: code.co_argcount]
        for key, held in zip(arguments[::-1], value.__defaults__[::-1], strict=False):
            yield _in_scope(scope, "local"), key, held
    home = scope.rpartition(".<locals>.")[0] or scope  # whose local a free variable is
    for key, cell in zip(code.co_freevars, value.__closure__ or (), strict=False):
        if not _is_vacant(cell):
            yield _in_scope(home, "closure"), key, cell.cell_contents


def _of_cache(value: Any) -> Iterator[Part]:
    """Yield what a function with a cache has returned so far; only the collector sees it."""
    own = getattr(value, "__dict__", None)
    for held in gc.get_referents(value):
        if held is value.__wrapped__:
            yield _same, "", held
        elif type(held) is dict and held is not own:  # the results themselves, or links to them
            for result in list(held.values())[:64]:
                yield _result, "", result
        elif not isinstance(held, type | dict):
            yield _result, "", held


def _result(name: Name, _key: Any, _kind: str) -> Name:
    return name.result()


def _same(name: Name, _key: Any, _kind: str) -> Name:
    return name


def _in_scope(scope: str, kind: str, number: int = 0) -> Extend:
    """Return a naming function for names of another function."""
    return lambda _name, key, _kind: Name(scope, key, kind, number)


def _is_vacant(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _ends(value: Any) -> list[tuple[int, Any]]:
    """Return the first and last eight items; scripts call the last one `[-1]`."""
    size = len(value)
    numbers = list(range(size)) if size <= 16 else [*range(8), *range(size - 8, size)]
    growing = not isinstance(value, tuple)
    return [(-1 if growing and i == size - 1 and size > 1 else i, value[i]) for i in numbers]


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object keeps, in its dictionary and in slots."""
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
