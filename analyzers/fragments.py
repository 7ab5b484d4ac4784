"""Text that was cut out of a longer file: an indented block is Python once it is moved left."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fragment:
    """`text` is the fragment moved left by `margin`, the white space that was taken from each
    line that had it; `cut` tells that the first line had none, as when copying begins within
    it."""

    text: str
    margin: str = ""
    cut: bool = False

    def back(self, text: str) -> str:
        """A patched form of the fragment's text, moved right to where the fragment stood."""
        if not self.margin:
            return text
        first, *rest = text.splitlines(keepends=True)
        moved = [f"{self.margin}{line}" if line.strip() else line for line in rest]
        return "".join([first if self.cut else f"{self.margin}{first}", *moved])


UNMOVED = Fragment("")


def unindented(text: str) -> Fragment:
    """The text as Python, if all that keeps it from being Python is its indentation; otherwise
    unchanged. Lines keep their numbers."""
    if _is_python(text):
        return Fragment(text)
    lines = text.splitlines(keepends=True)
    for cut in (False, True):
        margin = _common_margin(lines[cut:])
        if not margin:
            continue
        moved = "".join([*lines[:cut], *(line.removeprefix(margin) for line in lines[cut:])])
        if _is_python(moved):
            return Fragment(moved, margin, cut)
    return Fragment(text)


def _common_margin(lines: list[str]) -> str:
    written = [line for line in lines if line.strip()]
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in written]
    least = min(margins, key=len, default="")
    return least if all(margin.startswith(least) for margin in margins) else ""


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
