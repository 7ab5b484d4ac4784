"""The numbers of files that were not sent: labels are small and whole, and data have the form that
the project's own layers take."""

from __future__ import annotations

import re
import sys
import zlib
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from ..core.frames import USER, owner
from . import sizes
from .sources import says, texts

ROWS, COLUMNS, CLASSES = 64, 16, 10
MOST = 4096  # columns
FEW = 16  # rows of what has more than two dimensions
SIDES = {1: (64,), 2: (32, 32), 3: (8, 16, 16)}
_LABELS = frozenset(
    {
        *("label", "labels", "lab", "lbl", "target", "targets", "y", "index", "idx", "ids", "id"),
        *("class", "classes", "cls", "category", "user", "users", "item", "items", "person"),
        *("pid", "movie", "word", "token", "tokens", "node", "nodes"),
    }
)
_LINEAR = re.compile(r"\bLinear\(\s*(?:in_features\s*=\s*)?([^,()]{0,80}),")
_DOUBLE = (
    r"(?m)^\s*[\w.]+\.double\(\)\s*$|\b[A-Z]\w*\(.*\)\.double\(\)"
    r"|set_default_dtype\(torch\.(?:double|float64)\)"
)
_CONVOLUTION = re.compile(r"\bConv([123])d\(\s*(?:in_channels\s*=\s*)?(\d{1,3})\s*,")


def noise(name: str, shape: tuple[int, ...] | None = None, kind: Any = None) -> Any:
    """Return numbers that fit a name, in the requested shape, or else in that of data."""
    item = shape is None and _for_one_item()
    random = np.random.default_rng(zlib.crc32(name.encode()) if item else 0)
    whole = kind is not None and np.dtype(kind).kind in "iu"
    label, bound = is_label(name), sizes.bound_of(name)
    if shape is None:
        usual = shape_of_data()[1:] if item else sizes.rows(shape_of_data())
        shape = sizes.shape_of(name, usual[: not item] if label and not whole else usual)
    if whole or label or bound:
        labels = random.integers(0, bound or CLASSES, shape)
        return sizes.known(labels.astype(kind or np.int64), name)
    return sizes.known(random.standard_normal(shape).astype(kind or _precision()), name)


def one_number(name: str, *, whole: bool) -> Any:
    """Return a single number, as an array; a whole one is 0 or 1, one of however few classes."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return np.array(
        random.integers(0, 2) if whole else random.random(), np.int64 if whole else None
    )


def is_label(name: str) -> bool:
    """Return True if what has this name counts or names something."""
    return not _LABELS.isdisjoint(re.findall(r"[a-z]+", name.lower()))


def _for_one_item() -> bool:
    """Return True if a data set of the script's asks for one of its items, not for a batch."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "__getitem__" and owner(frame.f_code) == USER:
            return True
        frame = frame.f_back
    return False


@cache
def _precision() -> type[np.floating[Any]]:
    """Return the type of data: double where a whole model, or everything, is made double."""
    return np.float64 if says(_DOUBLE) else np.float32


@cache
def shape_of_data() -> tuple[int, ...]:
    """Return the input shape of the first convolution whose width the project's files spell out.

    Else return that of the first linear layer, if it is spelled out; else rows of some numbers.
    """
    columns = ""
    for text in texts():
        if found := _CONVOLUTION.search(text):
            return (FEW, int(found[2]), *SIDES[int(found[1])])
        if not columns and (found := _LINEAR.search(text)):
            columns = found[1].strip()
    return (ROWS, int(columns) if columns.isdecimal() and int(columns) < MOST else COLUMNS)
