"""What a line takes apart into so many values, or asserts: from its error."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from torch.utils.data import DataLoader

from .functions import Wished
from .lineage import made_for
from .placeholders import Batches

_RANKS = re.compile(r"\b(\w+)\.(?:ndim|dim\(\)|ndimension\(\)) == (\d)")


def of_parts_taken(traceback: TracebackType | None, count: int) -> Iterator[tuple[str, Wished]]:
    """Yield as many items of batches as are unpacked; else a tensor's rows.

    A tensor that a loop unpacks denotes batches.
    """
    code = _code_at(traceback)
    looping = code.lstrip().startswith(("for ", "async for "))
    for value in map(_data_of, _within(traceback, code)):
        if isinstance(value, Batches):
            of_items = re.search(r"\bfor\b[^:]*,[^:]*\bin\b", code)
            yield f"{value._path}{'[]' if of_items else ''}", f"of {count}"
        elif path := made_for(value):
            if looping:
                yield path, "batches"
            if value.dim() and value.shape[0] > count:
                yield path, [count, *map(int, value.shape[1:])]


def of_asserted(traceback: TracebackType | None) -> Iterator[tuple[str, Wished]]:
    """Yield as many dimensions for tensors as an assertion wants: `assert y.ndim == 1`."""
    for name, count in _RANKS.findall(_code_at(traceback)):
        value: Any
        value = next((held[name] for held in [*scopes(traceback)][::-1] if name in held), None)
        if path := made_for(value):
            shape = list(map(int, value.shape))
            yield path, [*shape, *[8] * int(count)][: int(count)]


def _data_of(value: Any) -> Any:
    """Return what a loader loads, also one of several by name."""
    if type(value) is dict:
        value = next(iter(value.values()), None)
    return value.dataset if type(value) is DataLoader else value


def _within(traceback: TracebackType | None, code: str) -> Iterator[Any]:
    """Yield what the code names; then the rest of the innermost frame, and its object."""
    names = list(scopes(traceback))[::-1]
    words = re.findall(r"\w+", code)
    yield from (held[word] for held in names for word in words if word in held)
    yield from names[0].values() if names else ()
    owner = names[0].get("self") if names else None
    yield from getattr(owner, "__dict__", {}).values()


def _code_at(traceback: TracebackType | None) -> str:
    """Return the line that raised."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    return linecache.getline(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)


def scopes(traceback: TracebackType | None) -> Iterator[dict[str, Any]]:
    """Yield the names of each frame, the outermost first."""
    while traceback is not None:
        yield dict(traceback.tb_frame.f_locals)
        traceback = traceback.tb_next
