"""Hugging Face's datasets: tables whose columns are synthesized on access."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch

from .columns import LABELS, PICTURES, cell, words_of
from .noise import noise
from .null_object import NullModule
from .synthesized import report_synthesized

PROVIDES = ("datasets",)
SAYS = "not installed here; a minimal imitation with the columns that are asked for was used"
ROWS = 64


def value(column: str, number: int) -> Any:
    """Return what a row has in a column: a picture, or what a table's column of this name has."""
    if words_of(column)[-1] in PICTURES:
        return noise(f"{column}{number}", (32, 32, 3))
    return cell(column, number)


class DatasetRow(dict[str, Any]):
    """One row, or several: columns that nobody sent are synthesized on access."""

    def __init__(self, values: Any, numbers: int | list[int]) -> None:
        super().__init__(values)
        self._numbers = numbers

    def __missing__(self, column: str) -> Any:
        asked = self._numbers
        one = isinstance(asked, int)
        self[column] = value(column, asked) if one else [value(column, n) for n in asked]  # type: ignore[union-attr,arg-type]
        return self[column]


class Dataset:
    """Rows by number, columns by name; what changes it makes another."""

    def __init__(self, rows: list[DatasetRow], kind: str = "", columns: Any = None) -> None:
        self._rows, self._kind, self._columns = rows, kind, columns

    @classmethod
    def from_dict(cls, columns: dict[str, Any], *args: Any, **kwargs: Any) -> Dataset:
        rows = zip(*columns.values(), strict=True)
        return cls([DatasetRow(zip(columns, row, strict=True), n) for n, row in enumerate(rows)])

    @property
    def column_names(self) -> list[str]:
        return list(self._columns or (self._rows[0] if self._rows else ()))

    @property
    def features(self) -> Any:
        return Features()

    @property
    def num_rows(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._formed([row[key] for row in self._rows])
        if isinstance(key, slice):
            return self._several(self._rows[key])
        if isinstance(key, list | tuple | np.ndarray | torch.Tensor | range):
            return self._several([self._rows[int(number)] for number in key])
        row = self._rows[int(key)]
        if self._columns:
            return {name: self._formed(row[name]) for name in self._columns}
        row.update({name: self._formed(value) for name, value in row.items()})
        return row

    def _several(self, rows: list[DatasetRow]) -> Any:
        names = self._columns or (rows[0] if rows else ())
        columns = {name: self._formed([row[name] for row in rows]) for name in names}
        return DatasetRow(columns, [int(row._numbers) for row in rows])  # type: ignore[arg-type]

    def _formed(self, value: Any) -> Any:
        """Return the value, as a tensor if that was asked for and its parts are numbers."""
        first = value
        while isinstance(first, list) and first:
            first = first[0]
        if self._kind in ("torch", "pt") and isinstance(first, int | float | np.ndarray):
            return torch.as_tensor(np.asarray(value))
        return value

    def map(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Dataset:
        if kwargs.get("batched"):
            table = self._several(self._rows)
            made = {**table, **dict(function(table) or {})}
            rows = [{n: column[at] for n, column in made.items()} for at in range(len(self))]
        else:
            rows = [{**row, **dict(function(row) or {})} for row in self._rows]
        gone = kwargs.get("remove_columns") or ()
        kept = [{n: v for n, v in row.items() if n not in gone} for row in rows]
        pairs = zip(kept, self._rows, strict=True)
        return Dataset([DatasetRow(new, old._numbers) for new, old in pairs], self._kind)

    def filter(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Dataset:
        kept = [row for row in self._rows if function(row)]
        return Dataset(kept or self._rows[:1], self._kind, self._columns)

    def select(self, numbers: Any, *args: Any, **kwargs: Any) -> Dataset:
        rows = [self._rows[int(n) % len(self)] for n in list(numbers)[: len(self)]]
        return Dataset(rows, self._kind, self._columns)

    def shuffle(self, seed: Any = None, *args: Any, **kwargs: Any) -> Dataset:
        return self.select(random.Random(seed or 0).sample(range(len(self)), len(self)))

    def train_test_split(self, *args: Any, **kwargs: Any) -> DatasetDict:
        cut = len(self) - len(self) // 4
        return DatasetDict(train=self.select(range(cut)), test=self.select(range(cut, len(self))))

    def with_format(self, type: Any = None, columns: Any = None, **kwargs: Any) -> Dataset:
        return Dataset(self._rows, str(type or ""), columns)

    def set_format(self, type: Any = None, columns: Any = None, **kwargs: Any) -> None:
        self._kind, self._columns = str(type or ""), columns

    def rename_column(self, old: str, new: str) -> Dataset:
        named = [
            {new if n == old else n: v for n, v in {old: r[old], **r}.items()} for r in self._rows
        ]
        pairs = zip(named, self._rows, strict=True)
        return Dataset([DatasetRow(row, was._numbers) for row, was in pairs], self._kind)

    def remove_columns(self, names: Any) -> Dataset:
        gone = [names] if isinstance(names, str) else names
        pairs = [({n: v for n, v in r.items() if n not in gone}, r) for r in self._rows]
        return Dataset([DatasetRow(row, was._numbers) for row, was in pairs], self._kind)

    def cast_column(self, *args: Any, **kwargs: Any) -> Dataset:
        return self


class DatasetDict(dict[str, Any]):
    """Splits by name; any that is asked for is there."""

    def __missing__(self, split: str) -> Dataset:
        self[split] = table = made()
        return table

    def __getattr__(self, name: str) -> Any:
        """Return a function that applies the method to all of its parts."""
        if name.startswith("_") or not hasattr(Dataset, name):
            raise AttributeError(name)
        parts = self or {"train": self["train"]}

        def each(*args: Any, **kwargs: Any) -> Any:
            done = {n: getattr(part, name)(*args, **kwargs) for n, part in parts.items()}
            return DatasetDict(done) if name != "set_format" else None

        return each


class Features(dict[str, Any]):
    """What is known of columns: labels are a few."""

    num_classes = LABELS
    names = tuple(f"class{n}" for n in range(LABELS))

    def __missing__(self, column: str) -> Any:
        return self


def made() -> Dataset:
    """Return a table of some rows."""
    return Dataset([DatasetRow({}, number) for number in range(ROWS)])


def load_dataset(name: Any = "", *args: Any, split: Any = None, **kwargs: Any) -> Any:
    """Return a table, or the splits of one."""
    report_synthesized(str(name), "a table with the columns that the script reads")
    return DatasetDict() if split is None else made()


def module(name: str) -> ModuleType:
    """Return `datasets`."""
    loaders = dict.fromkeys(("load_dataset", "load_from_disk"), load_dataset)
    return NullModule(name, **loaders, Dataset=Dataset, DatasetDict=DatasetDict)
