"""Find the cells of a script that came from a notebook, or that an editor or IPython marked."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

_MARKER = re.compile(
    r"#\s?(?:%%+(?:\s+_*cell (?P<number>\d+)$|\s*\[(?P<ran>\d+)\].*|.*)"
    r"|In ?\[(?P<count>[ \d]*)\]:?|<codecell>|COMMAND -{5,})"
)


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """The lines between two markers. `label` is the cell's usual name (`cell 4`, `In[3]`), `count`
    its execution count if the marker has one.
    """

    label: str
    first: int
    last: int
    count: int | None = None

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last

    def place(self, line: int) -> str:
        """Return a description such as `cell 4, line 3`."""
        return f"{self.label}, line {line - self.first + 1}"


def is_marker(line: str) -> bool:
    """Return True if the line separates two cells."""
    return _MARKER.match(line) is not None


def cells_in(lines: Sequence[str], covered: Container[int]) -> tuple[NotebookCell, ...]:
    """Return the cells that markers at the margin separate; none without a marker. `covered` are
    the lines of statements: what looks like a marker there is part of a string or a block. If some
    markers number their cells, the others are comments.
    """
    markers = [
        (number, match)
        for number, line in enumerate(lines, 1)
        if (match := _MARKER.match(line)) is not None and number not in covered
    ]
    numbered = [entry for entry in markers if entry[1]["number"]]
    found: list[tuple[str, int, int | None]] = []
    for number, match in numbered or markers:
        count = (match["count"] or match["ran"] or "").strip()
        label = f"In[{count}]" if count else f"cell {match['number'] or len(found) + 1}"
        found.append((label, number + 1, int(count) if count.isdecimal() else None))
    ends = [first - 2 for _, first, _ in found[1:]] + [len(lines)]
    return tuple(
        NotebookCell(label, first, end, count)
        for (label, first, count), end in zip(found, ends, strict=False)
    )
