"""Values of which the text shows too little to say what they are: they become it when used."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from . import roles
from .context import CurrentHarness
from .models import Method

WORDS = ("one", "two", "three")


class NeedsValue(BaseException):
    """A value turned out to be of another kind, or a tensor of another shape, than was planned.

    Only a search for a plan raises it; it then begins again with that.
    """

    def __init__(self, path: str, kind: str = "", shape: list[int] | None = None) -> None:
        super().__init__(path, kind, shape)
        self.path, self.kind, self.shape = path, kind, shape


class Batches(list[Any]):
    """Some batches; other attributes of a loader are synthesized."""

    def __init__(self, path: str, items: list[Any]) -> None:
        super().__init__(items)
        self._path = path
        self._named: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return CurrentHarness.harness.attributes.of(self._path, name)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):  # one of several: for training, for validation
            if key not in self._named:
                self._named[key] = CurrentHarness.harness.make(f"{self._path}[]", "batches")
            return self._named[key]
        return super().__getitem__(key)

    def next(self) -> Any:
        return self[0]

    def __next__(self) -> Any:
        return self[0]


class Placeholder:
    """Holds attributes and items, made as they are asked for. `_source` is what a call that gave
    it depended on, and so its tensors do."""

    def __init__(self, path: str, source: torch.Tensor | None = None) -> None:
        self.__dict__.update(_path=path, _source=source, _tensor=None, _items={})

    def _as_tensor(self, like: Any = None) -> torch.Tensor:
        """Return the value as a tensor, for a torch function that takes it."""
        harness = CurrentHarness.harness
        if self._tensor is None:
            if harness.searching:
                raise NeedsValue(
                    self._path, "tensor", list(like.shape) if like is not None else None
                )
            self.__dict__["_tensor"] = harness.make(self._path, "tensor")
        tensor: torch.Tensor = self._tensor
        return tensor

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        like = next((a for a in args if isinstance(a, torch.Tensor) and a.dim()), None)

        def real(value: Any) -> Any:
            if isinstance(value, Placeholder):
                return value._as_tensor(like)
            if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
                return type(value)(real(one) for one in value)
            return value

        return func(*map(real, args), **{k: real(v) for k, v in (kwargs or {}).items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if self._source is not None:
            path = f"{self._path}.{name}"
            if CurrentHarness.harness.use(path).called:
                return Method(path, self._source)
            made = CurrentHarness.harness.outputs.of(path, self._source)
        else:
            made = CurrentHarness.harness.attributes.of(self._path, name)
        return made

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice | torch.Tensor | tuple):
            return self._as_tensor()[key]
        if key not in self._items:
            path = self._path_of(key)
            source = self._source
            made = (
                CurrentHarness.harness.make(path)
                if source is None
                else CurrentHarness.harness.outputs.of(path, source)
            )
            self[key] = made
        return self._items[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[key] = value
        if isinstance(key, str):
            CurrentHarness.harness.keep_item(self, self._path, self._path_of(key), value)

    def _held(self) -> list[Any]:
        """Return what the script reads from it by string keys: then it is no tensor, but holds
        some."""
        keys = CurrentHarness.harness.use(self._path).keys if self._tensor is None else ()
        return [self[key] for key in sorted(keys)]

    def _acts(self) -> bool:
        """Return True if the script calls a method of it that no tensor has."""
        return bool(roles.no_tensors_methods(CurrentHarness.harness.use(self._path)))

    def _path_of(self, key: Any) -> str:
        return f"{self._path}[{key!r}]" if isinstance(key, str | int) else f"{self._path}[]"

    def get(self, *key: Any) -> Any:
        """Return an item of a dictionary; without a key, of a queue."""
        return self[key[0]] if key else CurrentHarness.harness.make(f"{self._path}.get()")

    def items(self) -> list[tuple[Any, Any]]:
        """Return its items by string keys; three if the script names none of them."""
        for key in (
            () if self._items else sorted(CurrentHarness.harness.use(self._path).keys) or WORDS
        ):
            self[key]
        return list(self._items.items())

    def keys(self) -> list[Any]:
        return [key for key, _ in self.items()]

    def values(self) -> list[Any]:
        return [value for _, value in self.items()]

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (CurrentHarness.harness.base(self._path),)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return CurrentHarness.harness.attributes.called(self._path, args, kwargs)

    def __iter__(self) -> Iterator[Any]:
        if CurrentHarness.harness.searching:
            raise NeedsValue(self._path, "batches")
        return iter(CurrentHarness.harness.make(self._path, "batches"))

    def __instancecheck__(self, instance: Any) -> bool:
        return True

    def __len__(self) -> int:
        return 3

    def __bool__(self) -> bool:
        return True

    def __index__(self) -> int:
        return 3

    __int__ = __index__

    def __float__(self) -> float:
        return 0.5

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __neg__(self) -> Any:
        return self._with(-1, operator.mul, False)

    def __contains__(self, item: Any) -> bool:
        return False

    def __format__(self, spec: str) -> str:
        return "0"

    def __hash__(self) -> int:
        return id(self)

    def _with(self, other: Any, operation: Any, turned: bool) -> Any:
        if isinstance(other, int | float) and self._source is None:
            if CurrentHarness.harness.searching:
                raise NeedsValue(self._path, "number")
            return operation(other, 3) if turned else operation(3, other)
        mine = self._as_tensor(other if isinstance(other, torch.Tensor) else None)
        return operation(other, mine) if turned else operation(mine, other)


def _give(name: str, turned: bool) -> Any:
    operation = getattr(operator, name)
    return lambda self, other: self._with(other, operation, turned)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Placeholder, f"__{_name}__", _give(_name, False))
    setattr(Placeholder, f"__r{_name}__", _give(_name, True))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Placeholder, f"__{_name}__", _give(_name, False))


def base_class(path: str) -> type:
    """Return a class like `nn.Module` for a base that is not in the script.

    Missing attributes of its objects are synthesized. Methods of frameworks that only log or save
    do nothing.
    """

    class SynthesizedModule(nn.Module):
        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return CurrentHarness.harness.attributes.missing(self, name)

    SynthesizedModule.__name__ = SynthesizedModule.__qualname__ = path.rpartition(".")[2]
    SynthesizedModule.__module__ = sys.modules["__main__"].__name__
    return SynthesizedModule
