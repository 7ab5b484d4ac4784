"""Differences between two versions of a script of cells, by cell.

If statements move from one cell to the next, a plain diff may take a marker for the line that
moved; here markers match markers, and everything else moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match

from analyzers.source.linediff import append_block, matching_blocks, unified

Cells = Sequence[Sequence[str]]  # the lines of each cell, its marker first, line ends included


def diff_by_cells(path: str, before: Cells, after: Cells) -> str:
    """Return a unified diff of the whole script; empty if nothing changed.

    Both versions have the same cells, in order.
    """
    old, new = ([line for cell in cells for line in cell] for cells in (before, after))
    return unified(path, old, new, _within_cells(before, after))


def _within_cells(before: Cells, after: Cells) -> list[Match]:
    """Return what the versions share, as `matching_blocks` does; never across a cell's margin."""
    found: list[Match] = []
    left = right = 0
    for old, new in zip(before, after, strict=True):
        for a, b, size in matching_blocks(old, new):
            append_block(found, Match(left + a, right + b, size))
        left, right = left + len(old), right + len(new)
    return [*found, Match(left, right, 0)]
