"""An object that takes every call and does nothing: what a logger is worth in a sandbox.

It hands on what it was given where that is asked for: a bar its items, a wrapper its module, a
change of data those data by their names.
Where values of its own would take part in training it gives up, and names the package.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NoReturn

import numpy as np
import torch
from torch import nn

from .asking import unpacked

# What only that has which learns, or is learnt from.
_TRAINED = {
    *("backward", "grad_fn", "named_parameters", "parameters", "requires_grad"),
    *("requires_grad_", "zero_grad"),
}
KIND = "package"
SAYS = "not installed here: its calls do nothing, or run a function of the script that it was given"


def needed(package: str) -> NoReturn:
    """End the run as the failed import would have."""
    said = f"{package} is not installed here, and training goes through what it gives"
    raise ModuleNotFoundError(said, name=package)


class _Kind(type):
    """Names that only hold constants (`Weights.DEFAULT`) are classes, too."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing(cls._package)


class NullObject(metaclass=_Kind):
    """Any attribute, item or call of it is another; it is false, empty, zero, and a context."""

    _package = ""
    _name = ""
    _given: tuple[Any, ...] = ()
    _named: Mapping[str, Any] = MappingProxyType({})
    _asked: Mapping[str, Any] = MappingProxyType({})  # if a call made it

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if _handed().taken_over(sys._getframe(1), cls._package, args):
            return None
        parameters = _parameters(args[0] if args else kwargs.get("params"))
        if parameters is not None:  # an optimizer: any that steps shows what a step does
            return torch.optim.SGD(parameters, lr=1e-3)
        if (read := _read(cls.__name__, args)) is not None:
            return read
        made = super().__new__(cls)
        made._given = tuple(map(_kept, args))
        made._named = {name: value for name, value in kwargs.items() if _is_data(value)}
        made._asked = {"": args, **kwargs} if _is_light((*args, *kwargs.values())) else {"": ()}
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _TRAINED and self._package:
            return getattr(self._module(), name)
        return nothing(self._package, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _handed().taken_over(asking := sys._getframe(1), self._package, args):
            return None
        if len(args) == 1 and not kwargs and isinstance(args[0], FunctionType | type):
            made = self._asked and isinstance(args[0], FunctionType)
            return _handed().given_back(args[0], self, asking) if made else args[0]  # a decorator
        if args and isinstance(args[0], torch.Tensor) and self._has_module():
            return self._module()(*args, **kwargs)
        if (read := _read(self._name, args)) is not None:
            return read
        return kind_of(self._package)(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._named[key] if key in self._named else self._another()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __delitem__(self, key: Any) -> None:
        pass

    def __contains__(self, item: Any) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        asked = unpacked(sys._getframe(1))
        if asked is None:
            return iter(self._items())
        if asked == len(self._given) and any(value is not None for value in self._given):
            return iter(self._given)
        return iter([self._another() for _ in range(asked)])

    def __len__(self) -> int:
        items: Any = self._items()
        here = len(items) if hasattr(items, "__len__") else 0
        asker = sys._getframe(1).f_globals.get("__name__", "")
        if not here and self._package and asker.startswith("torch.utils.data"):
            needed(self._package)  # a loader draws batches of it
        return here

    def __bool__(self) -> bool:
        return False

    def __float__(self) -> float:
        return 0.0

    def __int__(self) -> int:
        return 0

    def __index__(self) -> int:
        if self._package:
            needed(self._package)
        return 0

    def __lt__(self, other: Any) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __format__(self, spec: str) -> str:
        return format(0.0, spec) if spec[-1:] in tuple("eEfFgG%") else "0"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        return "<nothing>"

    def _another(self) -> Any:
        return nothing(self._package)

    def _items(self) -> Iterable[Any]:
        """Return what a progress bar iterates over."""
        first = self._given[0] if self._given else None
        return first if first is not None and not isinstance(first, nn.Module) else ()

    def _has_module(self) -> bool:
        return any(isinstance(value, nn.Module) for value in self._given)

    def _module(self) -> nn.Module:
        """Return the module that was wrapped."""
        for value in self._given:
            if isinstance(value, nn.Module):
                return value
        needed(self._package)

    def _combined(self, other: Any) -> Any:
        if isinstance(other, torch.Tensor) and self._package:
            needed(self._package)
        return self._another()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _combined
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _combined
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _combined

    def __neg__(self) -> Any:
        return self._another()

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        needed(cls._package or "a package")


@cache
def kind_of(package: str, name: str = "NullObject") -> type[NullObject]:
    """Return the null-object class of one package."""
    made: Any = _Kind(name, (NullObject,), {"_package": package})
    return made  # type: ignore[no-any-return]


def nothing(package: str, name: str = "") -> NullObject:
    """Return a null object that knows its package, and the name that was asked for."""
    made: NullObject = object.__new__(kind_of(package))
    made._name = name
    return made


def _read(function: str, args: tuple[Any, ...]) -> Any:
    """Return what a function or class of this name gives for a file that was not sent, or None."""
    readers = importlib.import_module(f"{__package__}.readers")  # which builds on this module
    return readers.read(function, args)


def _handed() -> Any:
    """Return what knows of functions that scripts hand to packages."""
    return importlib.import_module(f"{__package__}.handed_functions")  # which builds on this module


def _is_light(given: tuple[Any, ...]) -> bool:
    """Return True if it may be kept: what options of a command line are made with."""
    kept = (int, float, str, list, type, type(None), type(...), NullObject)
    return len(given) <= 16 and all(isinstance(one, kept) for one in given)


def _kept(given: Any) -> Any:
    """Return what may be asked back: modules, optimizers, and iterables; no tensors."""
    if isinstance(given, nn.Module | torch.optim.Optimizer | list | range | enumerate | zip):
        return given
    return given if isinstance(given, torch.utils.data.DataLoader) else None


def _is_data(given: Any) -> bool:
    """Return True if a function that changes data by name returns such a value under its name."""
    return isinstance(given, np.ndarray | list | str | int | float)


def _parameters(given: Any) -> list[Any] | None:
    """Return the parameters, or groups of them, that an optimizer is given; None for others."""
    if hasattr(given, "__next__") and getattr(given, "__name__", "").endswith("parameters"):
        given = list(given)
    if not isinstance(given, list) or not given:
        return None
    first = given[0]["params"] if isinstance(given[0], dict) and "params" in given[0] else given[0]
    learns = isinstance(first, nn.Parameter) or getattr(first, "__name__", "") == "parameters"
    return given if learns else None


class NullModule(ModuleType):
    """A module of nothings; names that scripts subclass are classes. `parts` are modules in it that
    are imported as they are named."""

    def __init__(self, name: str, parts: Any = (), **names: Any) -> None:
        super().__init__(name)
        self._parts = frozenset(parts)
        self.__path__: list[str] = []
        self.__version__ = "0"
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._parts:
            return importlib.import_module(f"{self.__name__}.{name}")
        package = self.__name__.partition(".")[0]
        return kind_of(package, name) if name[:1].isupper() else nothing(package, name)


def module(name: str) -> ModuleType:
    """Return any unknown package, or a part of it."""
    return NullModule(name)
