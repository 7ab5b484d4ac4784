"""One column of a table, and one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .noise import CLASSES

Array = Any


class Series:
    """One column."""

    def __init__(self, values: Any = (), *args: Any, **kwargs: Any) -> None:
        self.values = np.asarray(list(values) if isinstance(values, map | range) else values)
        self.name = kwargs.get("name")
        self.made_up = False
        self.index = np.arange(len(self.values))
        self._asked_for = list[Any]()  # values that nobody sent

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Series):
            key = key.values
        found = self.values[key]
        return Series(found) if isinstance(found, np.ndarray) else found

    def __getattr__(self, name: str) -> Any:
        """What an array can do: sums, means, its type."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.values, name)
        if not callable(found):
            return found
        return lambda *args, **kwargs: _series(found(*args, **kwargs))

    @property
    def iloc(self) -> Any:
        return self

    loc = iloc

    def to_numpy(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Array:
        if dtype is None:
            return self.values
        whole = np.dtype(dtype).kind in "iu" and self.values.dtype.kind == "f"
        return (self.values * CLASSES if self.made_up and whole else self.values).astype(dtype)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Series:
        return Series(self.to_numpy(dtype))

    def to_list(self) -> list[Any]:
        found: list[Any] = self.values.tolist()
        return found

    def apply(self, function: Callable[[Any], Any], *args: Any, **kwargs: Any) -> Series:
        return Series([function(value) for value in self])

    def map(self, change: Any) -> Series:
        if isinstance(change, dict):
            return Series([change.get(value, 0) for value in self])
        return self.apply(change)

    def unique(self) -> Array:
        return np.unique(self.values)

    def nunique(self) -> int:
        return len(np.unique(self.values))

    def fillna(self, *args: Any, **kwargs: Any) -> Series:
        return self

    dropna = reset_index = shift = fillna

    def isnull(self) -> Series:
        return Series(np.zeros(len(self), bool))

    isna = isnull

    def __eq__(self, other: Any) -> Any:
        """Where the values are so. Of a made-up column every other row has what is asked for, and
        what is asked for next the rows between: the parts of a split."""
        found = self.values == np.asarray(other)
        if self.made_up and np.ndim(other) == 0 and not np.any(found):
            if other not in self._asked_for:
                self._asked_for.append(other)
            found = np.arange(len(self)) % 2 == self._asked_for.index(other) % 2
        return Series(found)

    def __ne__(self, other: Any) -> Any:
        return Series(~(self == other).values)

    def isin(self, others: Any) -> Series:
        found = np.zeros(len(self), bool)
        for other in others:
            found |= (self == other).values
        return Series(found)

    __hash__ = None  # type: ignore[assignment]


def _series(value: Any) -> Any:
    return Series(value) if isinstance(value, np.ndarray) and value.ndim == 1 else value


def _operator(name: str) -> Any:
    def operate(self: Series, *other: Any) -> Any:
        return _series(getattr(self.values, name)(*map(np.asarray, other)))

    return operate


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "lt", "le", "gt"):
    setattr(Series, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("ge", "and", "or", "invert", "neg", "pow", "mod", "floordiv"):
    setattr(Series, f"__{_name}__", _operator(f"__{_name}__"))


class OpenRow(dict[str, Any]):
    """One row as a dictionary, which has what is asked for of other columns, too."""

    def __init__(self, named: dict[str, Any], asked: Callable[[str], Any]) -> None:
        super().__init__(named)
        self._asked = asked

    def __missing__(self, key: str) -> Any:
        return self._asked(key)


class Row(Series):
    """One row: its values by column; `asked` gives those of other columns, where there are any."""

    def __init__(self, named: dict[str, Any], asked: Callable[[str], Any] | None = None) -> None:
        super().__init__(list(named.values()))
        self._named, self._asked = named, asked

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        return self._asked(key) if self._asked and key not in self._named else self._named[key]

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_named", ())
        other = not hasattr(np.ndarray, name) and self.__dict__.get("_asked") is not None
        if name in known or (other and not name.startswith("_")):
            return self[name]
        return super().__getattr__(name)
