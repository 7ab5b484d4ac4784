"""Arrays in files that were not sent."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from ..core.instructions import bound_to
from .asking import awaited, counts_asked, handed_to, is_archive
from .finding import Report, when_imported
from .noise import COLUMNS, ROWS, noise, one_number
from .sources import says
from .synthesized import SynthesizedBytes, asked_by_user, is_missing, name_of, report_synthesized

_NUMBERS = re.compile(r"(?:np\.|numpy\.)?(int|float|bool)(?:_|16|32|64)?")


def install(report: Report) -> None:
    """Hook `np.load`, `np.loadtxt`, `np.genfromtxt`, `np.fromfile`, `np.memmap`, `loadmat`."""
    patched: Any = np
    for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap"):
        original = getattr(patched, name)
        if isinstance(original, type):
            setattr(patched, name, _Mapped)
        else:
            setattr(patched, name, _reading(original, name))

    when_imported("scipy.io", _matlab)


def _reading(original: Any, name: str) -> Any:
    @wraps(original)
    def reading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, SynthesizedBytes) or (is_missing(file) and asked_by_user()):
            report_synthesized(name_of(file), "an array of noise")
            if name == "load" and _holds_many(str(file), sys._getframe(1)):
                return Arrays()
            flat = name == "fromfile"
            kind = kwargs.get("dtype") or (args[0] if flat and args else None)
            shape: tuple[int, ...] | None = (ROWS * COLUMNS,) if flat else None
            if name.endswith("txt"):
                shape = _table(kwargs, sys._getframe(1))
            return noise(Path(str(file)).name, shape, kind)
        return original(file, *args, **kwargs)

    return reading


def _table(asked: Mapping[str, Any], frame: FrameType) -> tuple[int, ...]:
    """Return the shape of a table of numbers: rows of the columns that are used.

    With `unpack` they are columns, as many as the frame unpacks.
    """
    used = asked.get("usecols")
    if isinstance(used, int):
        return (ROWS,)
    columns = len(used) if used is not None else None
    if asked.get("unpack"):
        return columns or awaited(frame) or COLUMNS, ROWS
    return ROWS, columns or COLUMNS


def _holds_many(file: str, frame: FrameType) -> bool:
    """Return True if a file holds arrays by name, judged by the script or the file's own name."""
    if is_archive(frame):
        return True
    if Path(file).suffix:
        return file.endswith(".npz")
    name = bound_to(frame)
    return bool(name) and says(rf"""\b{name}\[["']""")


def _matlab(io: Any) -> None:
    """Hook `scipy.io.loadmat` for a file that was not sent."""
    original = io.loadmat

    @wraps(original)
    def loading(file: Any, *args: Any, **kwargs: Any) -> Any:
        if is_missing(file) and asked_by_user():
            report_synthesized(name_of(file), "arrays of noise")
            return Arrays()
        return original(file, *args, **kwargs)

    io.loadmat = loading


class Arrays(dict[str, Any]):
    """An `.npz` that has every array it is asked for."""

    files: tuple[str, ...] = ()

    def __missing__(self, key: str) -> Any:
        frame = sys._getframe(1)
        if (counts := counts_asked(frame)) is not None:  # of rows, of classes: what is made of each
            self[key] = np.full(counts, COLUMNS)
            return self[key]
        number = _NUMBERS.fullmatch(handed_to(frame))
        self[key] = noise(key) if number is None else one_number(key, whole=number[1] != "float")
        return self[key]

    def __contains__(self, key: Any) -> bool:
        return True

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class _Mapped(np.memmap):
    """An array in a file; in memory, where the file was not sent."""

    def __new__(cls, file: Any, *args: Any, **kwargs: Any) -> Any:
        mode = kwargs.get("mode", args[1] if len(args) > 1 else "r+")
        if not is_missing(file) or str(mode).startswith("w"):
            return np.memmap.__new__(cls, file, *args, **kwargs)
        report_synthesized(file, "an array of noise")
        kind = kwargs.get("dtype", args[0] if args else np.uint8)
        shape = kwargs.get("shape") or (ROWS * COLUMNS * 4,)
        return noise(str(file), shape if isinstance(shape, tuple) else (shape,), kind)
