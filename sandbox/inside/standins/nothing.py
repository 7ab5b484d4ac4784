"""An object that takes every call and does nothing: what a logger is worth in a sandbox.

Where its values would take part in training it gives up, and names the package that is needed.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NoReturn

import torch

# What only that has which learns, or is learnt from.
_TRAINED = {
    *("backward", "grad_fn", "named_parameters", "parameters", "requires_grad"),
    *("requires_grad_", "zero_grad"),
}
KIND = "package"
SAYS = "not installed here: its calls do nothing"


def needed(package: str) -> NoReturn:
    """End the run as the failed import would have."""
    said = f"{package} is not installed here, and training goes through what it gives"
    raise ModuleNotFoundError(said, name=package)


class Nothing:
    """Any attribute, item or call of it is another; it is false, empty, zero, and a context."""

    _package = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        parameters = _parameters(args[0] if args else kwargs.get("params"))
        if parameters is not None:  # an optimizer: any that steps shows what a step does
            return torch.optim.SGD(parameters, lr=1e-3)
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _TRAINED and self._package:
            needed(self._package)
        return self._another()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], FunctionType | type):
            return args[0]  # a decorator
        return self._another()

    def __getitem__(self, key: Any) -> Any:
        return self._another()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __delitem__(self, key: Any) -> None:
        pass

    def __contains__(self, item: Any) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter([self._another() for _ in range(_unpacked(sys._getframe(1)))])

    def __len__(self) -> int:
        return 0

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
        return format(0.0, spec) if spec[-1:] in "eEfFgG%" and spec else "0"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        return "<nothing>"

    def _another(self) -> Any:
        return nothing(self._package)

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
def kind_of(package: str, name: str = "Nothing") -> type[Nothing]:
    """The class of the nothings of one package."""
    return type(name, (Nothing,), {"_package": package})


def nothing(package: str) -> Nothing:
    """A nothing that knows which package it stands in for."""
    made: Nothing = object.__new__(kind_of(package))
    return made


def _parameters(given: Any) -> list[Any] | None:
    """The parameters, or groups of them, that an optimizer is given; None for anything else."""
    if hasattr(given, "__next__") and getattr(given, "__name__", "").endswith("parameters"):
        given = list(given)
    if not isinstance(given, list) or not given:
        return None
    first = given[0]["params"] if isinstance(given[0], dict) and "params" in given[0] else given[0]
    learns = isinstance(first, list | torch.nn.Parameter) or hasattr(first, "__next__")
    return given if learns else None


def _unpacked(frame: Any) -> int:
    """How many values the frame takes apart right now: `a, b = nothing` takes two."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if 0 <= at < len(code) and dis.opname[code[at]] == "UNPACK_SEQUENCE":
        return int(code[at + 1])
    return 0


class NothingModule(ModuleType):
    """A module of nothings; names that scripts subclass are classes."""

    def __init__(self, name: str, **names: Any) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__version__ = "0"
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        package = self.__name__.partition(".")[0]
        return kind_of(package, name) if name[:1].isupper() else nothing(package)


def module(name: str) -> ModuleType:
    """Any package that nobody knows here, or a part of it."""
    return NothingModule(name)
