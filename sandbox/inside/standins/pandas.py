"""pandas: small tables, read from what was sent, or made up by the columns that are used."""

from __future__ import annotations

import csv
import os
import re
from collections import namedtuple
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from . import sizes
from .columns import OpenRow, Row, Series
from .configs import read_value
from .files import WORDS
from .noise import CLASSES, COLUMNS, is_label, shape_of_data
from .nothing import NothingModule

PROVIDES = ("pandas",)
SAYS = "not installed here: a likeness of its tables"
ROWS, FEW, LONG = 128, 4, 6
_FILES = frozenset(
    {"file", "filename", "filepath", "path", "wav", "jpg", "png", "image", "img", "photo"}
    | {"picture", "audio", "video", "clip", "recording"}
)
_TEXTS = frozenset(
    {"text", "title", "caption", "sentence", "review", "question", "comment", "description"}
)

Array = Any


class Rows:
    """`frame.iloc` and `frame.loc`."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        frame = self._frame
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        rows = rows.values if isinstance(rows, Series) else rows
        if isinstance(columns, str):
            return frame[columns][rows]
        names = frame.named(columns)
        if isinstance(names, str):
            return frame[names][rows]
        if isinstance(rows, int | np.integer):
            asked = (lambda name: frame[name].values[rows]) if frame._open else None
            return Row({name: frame[name].values[rows] for name in names}, asked)
        part = DataFrame({name: frame[name].values[rows] for name in names})
        part._open = frame._open and isinstance(columns, slice)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        rows, column = key if isinstance(key, tuple) else (key, None)
        if isinstance(column, str):
            self._frame[column].values[rows] = value


class DataFrame:
    """Columns by name. `open`: any column that is asked for is there, as numbers."""

    def __init__(self, data: Any = None, columns: Any = None, *args: Any, **kwargs: Any) -> None:
        if isinstance(data, DataFrame):
            data = {name: data[name].values for name in data}
        elif data is not None and not isinstance(data, dict):
            rows = np.asarray(data)
            rows = rows[:, None] if rows.ndim == 1 else rows
            names = list(columns) if columns is not None else list(range(rows.shape[1]))
            data = {name: rows[:, n] for n, name in enumerate(names)}
        self._columns: dict[Any, Series] = {
            name: Series(values) for name, values in (data or {}).items()
        }
        self._open, self._name = False, ""

    @classmethod
    def made_up(cls, file: Any) -> DataFrame:
        """A table of numbers with every column that is asked for."""
        shape = shape_of_data()
        known = len(shape) == 2 and shape[1] != COLUMNS  # what the first layer takes
        *_, width = sizes.shape_of(str(file), (ROWS, shape[1] if known else FEW))
        made = cls({f"x{n}": _made_up(f"x{n}") for n in range(width)})
        made._open, made._name = True, str(file)
        return made

    @property
    def columns(self) -> Any:
        return Names(self._columns)

    @columns.setter
    def columns(self, names: Any) -> None:
        self._columns = dict(zip(names, self._columns.values(), strict=False))

    @property
    def values(self) -> Array:
        values = np.stack([c.values for c in self._columns.values()], 1)
        return sizes.known(values, self._name) if self._name else values

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self._columns)

    @property
    def index(self) -> Array:
        return np.arange(len(self))

    @property
    def iloc(self) -> Rows:
        return Rows(self)

    loc = iloc

    def __len__(self) -> int:
        return max(map(len, self._columns.values()), default=0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns)

    def __contains__(self, name: Any) -> bool:
        return self._open or name in self._columns

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.values, dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Series | np.ndarray):
            return self.iloc[np.flatnonzero(np.asarray(key))]
        if isinstance(key, slice):
            return self.iloc[key]
        if isinstance(key, list | Names):
            part = DataFrame({name: self[name].values for name in key})
            for name in key:
                part[name].made_up = self[name].made_up
            return part
        if key not in self._columns and self._open:
            self._columns[key] = Series(np.resize(_made_up(key), len(self) or ROWS))
            self._columns[key].made_up = True
        return self._columns[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        values = np.full(len(self), value) if np.ndim(value) == 0 else value
        self._columns[key] = Series(values)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self:
            return self[name]
        raise AttributeError(name)

    def named(self, columns: Any) -> Any:
        """The name of one column, or the names of several, chosen by number, slice or list."""
        names = list(self._columns)
        if isinstance(columns, int | np.integer):
            return names[columns]
        if isinstance(columns, slice):
            return names[columns] if not isinstance(columns.start, str) else names
        return [c if isinstance(c, str) else names[c] for c in columns]

    def to_numpy(self, dtype: Any = None, *args: Any, **kwargs: Any) -> Array:
        return self.values if dtype is None else self.astype(dtype).values

    def drop(self, labels: Any = None, *args: Any, columns: Any = None, **kwargs: Any) -> Any:
        """Without those columns."""
        gone = labels if columns is None else columns
        gone = [gone] if isinstance(gone, str) else list(gone)
        kept = {n: c.values for n, c in self._columns.items() if n not in gone}
        return DataFrame(kept)

    def iterrows(self) -> Iterator[tuple[int, Any]]:
        return ((n, self.iloc[n]) for n in range(len(self)))

    def itertuples(self, index: bool = True, name: Any = "Pandas") -> Iterator[Any]:
        if self._open:  # its rows have every column that is asked for
            yield from (row for _, row in self.iterrows())
            return
        names = [*(["Index"] if index else []), *self._columns]
        kind = namedtuple(name or "Pandas", names, rename=True)  # type: ignore[misc]
        for number, row in self.iterrows():
            values = [row[column] for column in self._columns]
            yield kind(*([number] if index else []), *values)

    def _at(self, row: int, name: str) -> Any:
        return self[name].values[row]

    def to_dict(self, orient: str = "dict", *args: Any, **kwargs: Any) -> Any:
        """Rows as dictionaries, or columns as such or as lists."""
        if orient == "records":
            if not self._open:
                return [{name: row[name] for name in self._columns} for _, row in self.iterrows()]
            return [OpenRow(row._named, partial(self._at, n)) for n, row in self.iterrows()]
        if orient == "list":
            return {name: column.to_list() for name, column in self._columns.items()}
        return {name: dict(enumerate(column)) for name, column in self._columns.items()}

    def head(self, count: int = 5) -> DataFrame:
        found: DataFrame = self.iloc[:count]
        return found

    def sample(self, n: Any = None, frac: Any = None, **kwargs: Any) -> Any:
        count = n or int(len(self) * (frac or 1))
        return self.iloc[np.random.default_rng(0).permutation(len(self))[:count]]

    def apply(self, function: Any, *args: Any, axis: Any = 0, **kwargs: Any) -> Any:
        if axis in (1, "columns"):
            return Series([function(row) for _, row in self.iterrows()])
        return DataFrame({n: np.asarray(function(c)) for n, c in self._columns.items()})

    def astype(self, kind: Any) -> DataFrame:
        kinds = kind if isinstance(kind, dict) else dict.fromkeys(self._columns, kind)
        return DataFrame({n: c.to_numpy(kinds.get(n)) for n, c in self._columns.items()})

    def mean(self, *args: Any, **kwargs: Any) -> Row:
        return Row({n: c.values.mean() for n, c in self._columns.items()})

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        return self

    dropna = fillna = reset_index = sort_values = set_index = drop_duplicates = copy

    def to_csv(self, *args: Any, **kwargs: Any) -> None:
        pass

    to_pickle = to_parquet = info = to_csv


class Names(list[Any]):
    """The names of columns."""

    def tolist(self) -> list[Any]:
        return list(self)


def _made_up(name: Any) -> Array:
    """A column that nobody sent: numbers; small whole ones for labels; the names of files, and
    texts, for what is called so: the last word says what it is, `text_length` is a number."""
    text = str(name).lower()
    words = re.findall(r"[a-z]+", text)
    last = words[-1] if words else ""
    if last in _FILES or words[-2:] == ["file", "name"]:
        return np.array([f"{text}_{n}" for n in range(ROWS)])
    if last in _TEXTS:
        return np.array([" ".join(WORDS[n % len(WORDS) :][:LONG]) for n in range(ROWS)])
    if any(word in text for word in ("label", "class", "target", "category", "species", "_id")):
        return np.arange(ROWS) % 2
    seed = sum(map(ord, text))
    if is_label(text):
        return np.random.default_rng(seed).integers(1, CLASSES, ROWS)
    return np.random.default_rng(seed).random(ROWS)


def read_csv(file: Any, *args: Any, **kwargs: Any) -> DataFrame:
    """A table from a file that was sent, else one made up."""
    if not os.path.exists(str(file)):
        from .made_up import made_up

        made_up(str(file), "a table with the columns that the script reads")
        return DataFrame.made_up(file)
    comma = kwargs.get("sep") or kwargs.get("delimiter") or ","
    with open(file, newline="", encoding="utf-8") as opened:
        rows = list(csv.reader(opened, delimiter=comma if len(comma) == 1 else " "))
    header = kwargs.get("names")
    if header is None:
        header = range(len(rows[0])) if kwargs.get("header", 0) is None else rows.pop(0)
    wanted = [[read_value(cell) for cell in row] for row in rows if row]
    return DataFrame({name: [row[n] for row in wanted] for n, name in enumerate(header)})


def concat(frames: Any, *args: Any, **kwargs: Any) -> DataFrame:
    """One below the other."""
    frames = list(frames)
    return DataFrame({n: np.concatenate([f[n].values for f in frames]) for n in frames[0]})


def get_dummies(values: Any, *args: Any, **kwargs: Any) -> DataFrame:
    """A column of zeros and ones for every value."""
    array = np.asarray(values)
    return DataFrame({str(v): (array == v).astype(int) for v in np.unique(array)})


def module(name: str) -> ModuleType:
    """`pandas`, or a part of it."""
    readers = dict.fromkeys(("read_csv", "read_table", "read_excel", "read_parquet"), read_csv)
    kinds = {"DataFrame": DataFrame, "Series": Series}
    return NothingModule(
        name, **readers, **kinds, concat=concat, get_dummies=get_dummies, isnull=_missing
    )


def _missing(values: Any) -> Array:
    return np.zeros(np.shape(values), bool)
