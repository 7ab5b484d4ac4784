"""What a line does with the value that it asks for: takes it apart, hands it on, indexes it."""

from __future__ import annotations

import linecache
import re
from types import CodeType, FrameType
from typing import Any

from ..core.instructions import current, following, instructions

FEW = 12  # instructions after one
_EXITS = frozenset({"exit", "quit", "sys.exit", "SystemExit"})


def unpacked(frame: FrameType) -> int | None:
    """Return how many names the frame is unpacking something into; None if it is not."""
    one = current(frame)
    if one is not None and one.opname == "UNPACK_SEQUENCE":
        return one.arg
    return None


def awaited(frame: FrameType | None) -> int | None:
    """Return how many names the result of the frame's current call will be unpacked into.

    Functions that only return it are followed. 0: its first item is taken; None: it is not
    unpacked.
    """
    while frame is not None:
        later = following(frame)
        if later and later[0].opname == "UNPACK_SEQUENCE":
            return later[0].arg
        names = [one.opname for one in later]
        if names[1:] == ["BINARY_SUBSCR"] and later[0].argval == 0:
            return 0
        if names[:1] != ["RETURN_VALUE"]:
            return None
        frame = frame.f_back
    return None


def ends_with(frame: FrameType | None) -> bool:
    """Return True if the frame's current call is the last thing that the script does."""
    while frame is not None:
        if handed_to(frame) in _EXITS:
            return True
        names = [one.opname for one in following(frame, 3)]
        if names[:1] != ["POP_TOP"] or names[-1] not in ("RETURN_VALUE", "RETURN_CONST"):
            return False
        if frame.f_code.co_name == "<module>":
            return frame.f_globals.get("__name__") == "__main__"
        frame = frame.f_back
    return False


def is_loaded(code: CodeType, name: str) -> bool:
    """Return True if the code reads this name, wherever it is bound."""
    listed = instructions(code).values()
    return any(one.argval == name and one.opname.startswith("LOAD_") for one in listed)


def is_archive(frame: FrameType) -> bool:
    """Return True if the result of the frame's current call is used like an archive.

    It is entered by `with`, or indexed by a string, which an array is not.
    """
    match [(one.opname, one.argval) for one in following(frame)]:
        case [("BEFORE_WITH", _), *_] | [("LOAD_CONST", str()), ("BINARY_SUBSCR", _)]:
            return True
    return False


def taken_apart_for(frame: FrameType) -> Any:
    """Return the function that the frame calls with an unpacked mapping, `called(**mapping)`, or
    None."""
    one = current(frame)
    at = one.positions if one is not None and one.opname == "DICT_MERGE" else None
    if at is None or at.lineno is None:
        return None
    line = linecache.getline(frame.f_code.co_filename, at.lineno).encode()
    first, *others = line[at.col_offset :].decode().partition("(")[0].strip().split(".")
    called = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}.get(first)
    for name in others:
        called = getattr(called, name, None)
    return called


def handed_to(frame: FrameType) -> str:
    """Return the function that the line passes the requested value to, and nothing else: `int`."""
    before, after = _around(frame)
    found = re.search(r"([\w.]+)\($", before)
    return found[1] if found and after.startswith(")") else ""


def counts_asked(frame: FrameType) -> int | None:
    """Return how many whole numbers the line takes from the requested value, by names of their own.

    For example `rows, columns = (int(n) for n in …)`, `map(int, …)`, `….tolist()`.
    """
    before, after = _around(frame)
    whole = re.search(r"\bint\((\w+)\) for \1 in $|\bmap\(int, *$", before)
    if not whole and not after.startswith(".tolist()"):
        return None
    later = following(frame, FEW)
    parts = (one for one in later if one.opname.startswith(("UNPACK_SEQUENCE", "STORE_")))
    first = next(parts, None)
    return first.arg if first is not None and first.opname == "UNPACK_SEQUENCE" else None


def _around(frame: FrameType) -> tuple[str, str]:
    """Return the source before and after the requested value on its line."""
    one = current(frame)
    at = one.positions if one is not None else None
    if at is None or at.lineno is None or at.lineno != at.end_lineno:
        return "", ""
    line = linecache.getline(frame.f_code.co_filename, at.lineno).encode()
    return line[: at.col_offset].decode(), line[at.end_col_offset :].decode().lstrip()
