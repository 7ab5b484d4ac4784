"""Tables that were not sent, for pandas.

A reader that finds no file returns a DataFrame of numbers, as wide as the project's first layer.
It is marked in `attrs`, which pandas hands on to what is derived from it; a marked table has every
column that is asked for, and knows under which name its size is decided.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any

from ..stubs import sizes
from ..stubs.columns import ROWS, cell, column
from ..stubs.finding import when_imported
from ..stubs.noise import COLUMNS, shape_of_data
from ..stubs.synthesized import (
    asked_by_user,
    is_missing,
    is_synthesized,
    name_of,
    report_synthesized,
)

READERS = ("read_csv", "read_table", "read_excel", "read_parquet", "read_feather", "read_pickle")
MARK = "synthesized"
FEW = 4
_NAMING = (  # methods that are given names of columns
    *("astype", "drop_duplicates", "dropna", "explode", "groupby", "melt", "merge", "nlargest"),
    *("nsmallest", "pivot", "pivot_table", "set_index", "sort_values", "value_counts"),
)


def install() -> None:
    """Hook pandas if it is installed."""
    when_imported("pandas", _hook)


def _hook(pandas: Any) -> None:
    if not hasattr(pandas, "DataFrame") or not hasattr(pandas.DataFrame, "attrs"):
        return  # not the package itself
    for name in READERS:
        setattr(pandas, name, _reading(getattr(pandas, name)))
    frame = pandas.DataFrame
    frame.__getitem__ = _with_columns(frame.__getitem__)
    frame.__getattr__ = _with_attributes(frame.__getattr__)
    pandas.Series.__getitem__ = _with_cells(pandas.Series.__getitem__)
    pandas.Series.__getattr__ = _with_attributes(pandas.Series.__getattr__)
    frame.drop = _dropping(frame.drop)
    for name in _NAMING:
        setattr(frame, name, _adding(getattr(frame, name)))
    frame.to_dict = _with_rows(frame.to_dict)
    frame.to_numpy = _sized(frame.to_numpy)
    values = frame.values
    frame.values = property(_sized(lambda self: values.fget(self)))


def _reading(original: Any) -> Any:
    @wraps(original)
    def read(file: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not (is_synthesized(file) or (is_missing(file) and asked_by_user())):
            return original(file, *args, **kwargs)
        report_synthesized(name_of(file), "a table with the columns that the script reads")
        return synthesized(name_of(file), kwargs)

    return read


def synthesized(name: str, asked: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return a marked DataFrame of 128 rows; `names` or `usecols` of a call give its columns."""
    pandas: Any = importlib.import_module("pandas")
    names = asked.get("names") or asked.get("usecols")
    if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
        shape = shape_of_data()
        usual = shape[1] if len(shape) == 2 and shape[1] != COLUMNS else FEW
        *_, width = sizes.shape_of(name, (ROWS, usual))
        names = [f"x{n}" for n in range(width)]
    made = pandas.DataFrame({each: column(each) for each in names})
    made.attrs[MARK] = name
    return made


def _with_columns(original: Any) -> Any:
    """Return `DataFrame.__getitem__` that adds the columns that a marked table lacks."""

    @wraps(original)
    def item(self: Any, key: Any) -> Any:
        if MARK in self.attrs:
            names = key if isinstance(key, list) else [key]
            for name in names:
                if isinstance(name, str) and name not in self.columns:
                    self.loc[:, name] = column(name, len(self))
        return original(self, key)

    return item


def _adding(original: Any) -> Any:
    """Return a method that adds the columns which it names and a marked table lacks."""

    @wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except KeyError as error:
            asked = [name for name in _strings((*args, *kwargs.values())) if name in str(error)]
            if MARK not in self.attrs or not asked:
                raise
            self[asked]
            return original(self, *args, **kwargs)

    return method


def _strings(values: Any) -> Iterator[str]:
    """Yield the strings among the arguments of a call, in lists and dictionary keys too."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from (one for one in value if isinstance(one, str))


class _Row(dict[str, Any]):
    """A row of a marked table, which has a value for every column that is asked for."""

    def __init__(self, values: Mapping[str, Any], number: int) -> None:
        super().__init__(values)
        self._number = number

    def __missing__(self, name: str) -> Any:
        self[name] = value = cell(name, self._number)
        return value


def _with_rows(original: Any) -> Any:
    """Return `DataFrame.to_dict` whose rows have every column that is asked for."""

    @wraps(original)
    def to_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        rows = MARK in self.attrs and isinstance(made, list)
        return [_Row(row, number) for number, row in enumerate(made)] if rows else made

    return to_dict


def _with_cells(original: Any) -> Any:
    """Return `Series.__getitem__` that has any cell of a row of a marked table."""

    @wraps(original)
    def item(self: Any, key: Any) -> Any:
        row = MARK in self.attrs and isinstance(key, str) and key not in self.index
        return column(key)[hash(self.name) % ROWS] if row else original(self, key)

    return item


def _with_attributes(original: Any) -> Any:
    @wraps(original)
    def attribute(self: Any, name: str) -> Any:
        try:
            return original(self, name)
        except AttributeError:
            if name.startswith("_") or MARK not in self.attrs:
                raise
            return self[name]  # of a row or of a table; a column's own attributes were tried

    return attribute


def _dropping(original: Any) -> Any:
    """Return `DataFrame.drop` that ignores columns that a marked table does not have yet."""

    @wraps(original)
    def drop(self: Any, *args: Any, **kwargs: Any) -> Any:
        if MARK in self.attrs:
            kwargs.setdefault("errors", "ignore")
        return original(self, *args, **kwargs)

    return drop


def _sized(original: Any) -> Any:
    """Return a conversion to an array that knows where the size of a marked table is decided."""

    @wraps(original)
    def values(self: Any, *args: Any, **kwargs: Any) -> Any:
        array = original(self, *args, **kwargs)
        name = self.attrs.get(MARK)
        return sizes.known(array, name) if name and array.ndim == 2 else array

    return values
