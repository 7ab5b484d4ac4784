"""Files that were not sent: synthesized for whoever opens them, in the form that it wants."""

from __future__ import annotations

import builtins
import csv
import io
import os
import re
import zlib
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from . import pictures
from .finding import Report, when_imported
from .folders import synthesized_names
from .noise import COLUMNS, ROWS
from .null_object import NullModule
from .sources import says
from .synthesized import (
    SynthesizedBytes,
    SynthesizedFile,
    asked_by_user,
    is_missing,
    name_of,
    report_synthesized,
)

_NAMES = re.compile(r"file|name|path|image|img|^id$|_id$")
WORDS = (
    *(["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]),
    *(["she", "sells", "sea", "shells", "by", "the", "sea", "shore"]),
    *(["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]),
)


def install(report: Report) -> None:
    """Extend the functions that open files."""
    _texts()
    _tables()
    when_imported("PIL.Image", _pictures)


def text_for(name: str) -> str:
    """Return what a text file of this name may hold."""
    end = Path(name).suffix.lower()
    if end in (".csv", ".tsv", ".data"):
        comma = "\t" if end == ".tsv" else ","
        numbers = np.random.default_rng(0).random((ROWS, COLUMNS - 1)).round(3)
        rows = [[*map(str, row), str(n % 2)] for n, row in enumerate(numbers)]
        names = [f"x{n}" for n in range(COLUMNS - 1)] + ["label"]
        return "".join(comma.join(row) + "\n" for row in [names, *rows])
    if end in (".json", ".jsonl"):
        return "{}\n"
    if end in (".yaml", ".yml", ".cfg", ".ini", ".toml"):
        return ""
    if says(r"""split\(["']\\t["']\)"""):
        return "".join(
            f"{' '.join(WORDS[n % 7 : n % 7 + 5])}\t{n % 5}\t{n % 2}\n" for n in range(ROWS)
        )
    return "".join(" ".join(WORDS[n % 7 : n % 7 + 12]) + ".\n" for n in range(ROWS))


def _texts() -> None:
    """Hook `open` for reading: prose, a table, an empty mapping, or bytes of noise."""
    real = builtins.open

    @wraps(real)
    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return real(file, mode, *args, **kwargs)
        except FileNotFoundError:
            if not is_missing(file) or not asked_by_user():
                raise
            if any(letter in mode for letter in "wax"):
                if os.path.isabs(file):
                    raise
                os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
                return real(file, mode, *args, **kwargs)
            return _made(str(file), mode)

    builtins.open = opened
    setattr(io, "open", opened)  # noqa: B010 (the same function under another name)


def _tables() -> None:
    """Hook `csv.DictReader` and `csv.reader` for a synthesized table.

    Its rows have every column that is asked for, and name the synthesized files; its cells are any
    number.
    """
    patched: Any = csv
    by_name, by_place = patched.DictReader, patched.reader

    @wraps(by_name, updated=())
    def reading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, SynthesizedFile):
            return iter([Cells(number) for number in range(ROWS)])
        return by_name(file, *args, **kwargs)

    @wraps(by_place)
    def parted(file: Any, *args: Any, **kwargs: Any) -> Any:
        rows = by_place(file, *args, **kwargs)
        return (
            ([*map(TableCell, row)] for row in rows) if isinstance(file, SynthesizedFile) else rows
        )

    patched.DictReader, patched.reader = reading, parted


class TableCell(str):
    """A cell of a synthesized table: a number where one is wanted, in its header too."""

    __slots__ = ()

    def __int__(self) -> int:
        return int(self.__str__()) if self.isdecimal() else zlib.crc32(self.encode()) % 2

    def __float__(self) -> float:
        try:
            return float(self.__str__())
        except ValueError:
            return float(int(self))


class Cells(dict[str, str]):
    """A row of a synthesized table."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, column: str) -> str:
        names = synthesized_names()
        if names and _NAMES.search(column.lower()):
            self[column] = names[self._number % len(names)]
        else:
            self[column] = str(self._number % 2)
        return self[column]


def _made(name: str, mode: str) -> Any:
    if "b" in mode:
        report_synthesized(name, "the content that its reader expects")
        data = np.random.default_rng(0).integers(0, 256, 4096, dtype=np.uint8).tobytes()
        found: Any = SynthesizedBytes(data)
    else:
        report_synthesized(name, "a small text")
        found = SynthesizedFile(text_for(name))
    found.name = name
    return found


def _pictures(pillow: Any) -> None:
    """Hook `Image.open` of the real Pillow, not of a stub, whose calls do nothing."""
    if isinstance(pillow, NullModule):
        return
    original = pillow.open

    @wraps(original)
    def opening(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, SynthesizedBytes) or (is_missing(file) and asked_by_user()):
            name = name_of(file)
            report_synthesized(name, "a picture of noise")
            return pillow.fromarray(pictures.noise(name, pictures.usual_shape()))
        return original(file, *args, **kwargs)

    pillow.open = opening
