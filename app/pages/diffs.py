"""A unified diff as rows that a page can lay out, unified or side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from markupsafe import Markup

from app.present.highlight import WIDEST, highlight_lines

Kind = Literal["same", "removed", "added"]
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of a hunk. `old` and `new` are 1-based line numbers; None where it has none."""

    kind: Kind
    old: int | None
    new: int | None
    html: Markup
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """What stands left and right of each other in a side-by-side view."""

    left: HunkLine | None
    right: HunkLine | None


@dataclass(frozen=True, slots=True)
class Hunk:
    file: str
    rows: tuple[HunkLine, ...]

    @property
    def pairs(self) -> list[Pair]:
        """Rows side by side: a run of removed lines faces the run of added lines after it."""
        pairs: list[Pair] = []
        removed: list[HunkLine] = []
        added: list[HunkLine] = []
        for row in self.rows:
            if row.kind == "same":
                pairs += _facing(removed, added)
                removed, added = [], []
                pairs.append(Pair(row, row))
            else:
                (removed if row.kind == "removed" else added).append(row)
        return pairs + _facing(removed, added)


def _facing(removed: list[HunkLine], added: list[HunkLine]) -> list[Pair]:
    return [Pair(left, right) for left, right in zip_longest(removed, added)]


def hunks(diff: str) -> list[Hunk]:
    """The hunks of a unified diff, in order. Lines that belong to no hunk are passed over."""
    found: list[Hunk] = []
    file = ""
    lines = iter(diff.split("\n"))
    for line in lines:
        head = _HUNK.match(line)
        if line.startswith("+++ "):
            file = line[4:].split("\t")[0].removeprefix("b/")
        elif head:
            old, old_count, new, new_count = (int(n) if n else 1 for n in head.groups())
            body = list(_body(lines, old_count, new_count))
            found.append(Hunk(file, tuple(_rows(body, old, new))))
    return found


def _body(lines: Iterator[str], old: int, new: int) -> Iterator[str]:
    """The lines of one hunk: as many as its head has announced."""
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        if line.startswith("\\"):
            continue
        old -= not line.startswith("+")
        new -= not line.startswith("-")
        yield line


def _rows(body: list[str], old: int, new: int) -> Iterator[HunkLine]:
    """Each side is coloured as a whole, so that a string over several lines stays one."""
    old_text = "\n".join(line[1:] for line in body if not line.startswith("+"))
    new_text = "\n".join(line[1:] for line in body if not line.startswith("-"))
    before, after = (iter(highlight_lines(text, WIDEST)) for text in (old_text, new_text))
    for line in body:
        if line.startswith("-"):
            yield HunkLine("removed", old, None, next(before), line[1:])
            old += 1
        elif line.startswith("+"):
            yield HunkLine("added", None, new, next(after), line[1:])
            new += 1
        else:
            next(before)
            yield HunkLine("same", old, new, next(after), line[1:])
            old, new = old + 1, new + 1


def counts(diff: str) -> tuple[int, int]:
    """How many lines a diff adds, and how many it removes."""
    rows = [row for hunk in hunks(diff) for row in hunk.rows]
    return sum(row.kind == "added" for row in rows), sum(row.kind == "removed" for row in rows)
