"""Finds the line and the column at which an instruction's source begins."""

from __future__ import annotations

from itertools import islice
from types import CodeType

POSITIONS = 65_536  # kept at most
_positions: dict[tuple[int, int], tuple[CodeType, int, int]] = {}


def position_at(code: CodeType, instruction: int) -> tuple[int, int]:
    """Return the line of an instruction, 0 if it has none, and the column (in bytes) at which its
    code begins, -1 if it has none."""
    key = id(code), instruction
    known = _positions.get(key)
    if known is None:
        if len(_positions) >= POSITIONS:
            _positions.clear()
        line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
        known = _positions[key] = code, line or 0, -1 if column is None else column
    return known[1:]
