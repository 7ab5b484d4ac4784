"""Indentation of pasted statements: moved left, put into line, empty blocks given a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzers.paste.flattened import restored
from analyzers.paste.logical import Logical
from analyzers.paste.open_blocks import FlatLine

TAB = 8
LEFT_OUT = frozenset({"...", "…", "[...]", "[…]"})
"""The text of a line where a post leaves lines out."""


@dataclass(frozen=True, slots=True)
class Code:
    """A logical line that is Python. `header`: a body belongs below it; `begins`: it is the first
    of a piece of code, whose margin has nothing to do with the lines above."""

    line: Logical
    text: str
    header: bool = False
    begins: bool = False

    def column(self) -> int:
        return len(self.line.indent.expandtabs(TAB))


@dataclass(slots=True)
class _Level:
    """A block: where its lines stand in the paste, and where they are put."""

    sent: int
    put: int


def laid_out(code: Sequence[Code]) -> list[tuple[int, str]]:
    """For each logical line the column to put it at, and its text, with `pass` behind a header
    that nothing stands below."""
    columns = _columns(code)
    placed: list[tuple[int, str]] = []
    levels: list[_Level] = []
    for at, (piece, column) in enumerate(zip(code, columns, strict=True)):
        after_header = at > 0 and code[at - 1].header and not piece.begins
        if piece.begins or not levels:
            levels = [_Level(column, 0)]
        elif after_header and column > levels[-1].sent:
            levels.append(_Level(column, levels[-1].put + column - levels[-1].sent))
        else:
            _enter(levels, column)
        placed.append((levels[-1].put, piece.text))
    return [
        (put, text if _has_body(code, placed, at) else f"{text} pass")
        for at, (put, text) in enumerate(placed)
    ]


def is_restored(code: Sequence[Code]) -> bool:
    """Whether a part of the code had lost its indentation."""
    return any(_is_flat(code[start:end]) for start, end in _parts(code))


def _parts(code: Sequence[Code]) -> list[tuple[int, int]]:
    """Return where the pieces of code begin and end."""
    starts = [at for at, piece in enumerate(code) if piece.begins or at == 0]
    return [*zip(starts, [*starts[1:], len(code)], strict=True)]


def _is_flat(piece: Sequence[Code]) -> bool:
    """Whether nothing in a piece of code stands right of anything, though headers have lines below
    them."""
    is_level = len({code.column() for code in piece}) == 1
    return is_level and any(code.header for code in piece[:-1])


def _lines(piece: Sequence[Code]) -> list[FlatLine]:
    ends = [piece[0].line.first - 1, *(code.line.last for code in piece)]
    return [
        FlatLine(code.text, code.header, blank=code.line.first - end - 1)
        for code, end in zip(piece, ends, strict=False)
    ]


def _has_body(code: Sequence[Code], placed: Sequence[tuple[int, str]], at: int) -> bool:
    """Whether nothing is missing below the line."""
    if not code[at].header:
        return True
    return at + 1 < len(code) and placed[at + 1][0] > placed[at][0]


def _enter(levels: list[_Level], column: int) -> None:
    """Find the block of a line that begins none: where it stands out of line, the nearest."""
    left: _Level | None = None
    while len(levels) > 1 and levels[-1].sent > column:
        left = levels.pop()
    level = levels[-1]
    if left is not None and level.sent < column and left.sent - column < column - level.sent:
        levels.append(left)
    elif level.sent != column and left is None:
        level.sent = column


def _columns(code: Sequence[Code]) -> list[int]:
    """Where lines stand; the first of a piece, when copying began within it, with the rest. What
    was left out stands where the code goes on: at the margin, it would end the block."""
    columns = [piece.column() for piece in code]
    for start, end in _parts(code):
        for at in range(end - 2, start, -1):
            if code[at].text in LEFT_OUT:
                columns[at] = max(columns[at], columns[at + 1])
        if _is_flat(code[start:end]):
            columns[start:end] = restored(_lines(code[start:end]))
            continue
        rest = columns[start + 1 : end]
        least = min(rest, default=0)
        cut = rest and least > columns[start] and (not code[start].header or rest[0] > least)
        if cut:
            columns[start] = least
    return columns
