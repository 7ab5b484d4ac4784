"""Differences between two versions of a script of cells, told within each cell.

A plain diff may take a marker for the line that moved, when statements went from one cell to the
next; here the markers stand still, and everything else moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

Cells = Sequence[Sequence[str]]  # the lines of each cell, its marker first, line ends included

CONTEXT = 3


class CellMatcher(SequenceMatcher[str]):
    """Matches the lines of two versions cell by cell. Both have the same cells, in order."""

    def __init__(self, before: Cells, after: Cells) -> None:
        flat = [[line for cell in cells for line in cell] for cells in (before, after)]
        super().__init__(None, flat[0], flat[1], autojunk=False)
        self._pairs = list(zip(before, after, strict=True))

    def get_matching_blocks(self) -> list[Match]:
        """As of `SequenceMatcher`; never across the margin of a cell."""
        found: list[Match] = []
        left = right = 0
        for before, after in self._pairs:
            inner = SequenceMatcher(None, before, after, autojunk=False)
            for a, b, size in inner.get_matching_blocks():
                _append(found, Match(left + a, right + b, size))
            left, right = left + len(before), right + len(after)
        return [*found, Match(left, right, 0)]


def _append(blocks: list[Match], block: Match) -> None:
    """Add a block, as one with the last where it goes on without a gap."""
    if blocks:
        a, b, size = blocks[-1]
        if (a + size, b + size) == (block.a, block.b):
            blocks[-1] = Match(a, b, size + block.size)
            return
    if block.size:
        blocks.append(block)


def diff_by_cells(path: str, before: Cells, after: Cells) -> str:
    """A unified diff of the whole script; empty when nothing changed."""
    matcher = CellMatcher(before, after)
    old, new = ([line for cell in cells for line in cell] for cells in (before, after))
    hunks = [
        text for group in matcher.get_grouped_opcodes(CONTEXT) for text in _hunk(group, old, new)
    ]
    return "".join([f"--- a/{path}\n", f"+++ b/{path}\n", *hunks]) if hunks else ""


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str]
) -> Iterator[str]:
    (_, left, _, right, _), (_, _, left_end, _, right_end) = group[0], group[-1]
    yield f"@@ -{_range(left, left_end)} +{_range(right, right_end)} @@\n"
    for tag, a, a_end, b, b_end in group:
        if tag == "equal":
            yield from (f" {line}" for line in old[a:a_end])
        else:
            yield from (f"-{line}" for line in old[a:a_end])
            yield from (f"+{line}" for line in new[b:b_end])


def _range(start: int, end: int) -> str:
    """A hunk's lines as `start,length`; an empty range names the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
