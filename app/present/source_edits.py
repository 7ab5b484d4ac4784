"""What a fix does to the source, in a few words: the lines that it adds, replaces or deletes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analyzers.explain.listed import some
from analyzers.source.linediff import opcodes

LISTED = 3  # blocks whose lines are listed; of more, the first and the last line are said

CellOf = Callable[[str, int], str | None]
"""Takes a file and a line from 1; returns a notebook's own name of the place, or None."""


@dataclass(frozen=True, slots=True)
class EditedLines:
    """Adjacent lines that an edit changes: `removed` old lines from line `first` on (from 1),
    replaced by `added` lines. `follows`: lines without an old one belong to the line before."""

    file: str
    first: int
    removed: int
    added: int
    follows: bool = False

    @property
    def size(self) -> int:
        """The number of lines that differ; of a replacement, its longer side counts."""
        return max(self.removed, self.added)


def edit_of(before: Mapping[str, str], after: Mapping[str, str], entry: str, cell: CellOf) -> str:
    """Return what turns the files of `before` into those of `after`: `add one line before line 10`.

    Files other than `entry` are named. The text is '' if nothing differs.
    """
    found = [
        block
        for path, text in sorted(after.items())
        for block in _blocks(path, before.get(path, "").splitlines(), text.splitlines())
    ]
    if not found:
        return ""
    files = list(dict.fromkeys(block.file for block in found))
    if len(files) > 1:
        return f"change {_lines(sum(block.size for block in found))} in {some(files)}"
    file = "" if files == [entry] else f" of `{files[0]}`"
    return f"{_within(found, cell)}{file}"


def _blocks(file: str, old: Sequence[str], new: Sequence[str]) -> Iterator[EditedLines]:
    for tag, i1, i2, j1, j2 in opcodes(old, new):
        if tag != "equal":
            follows = i1 == len(old) or _indent(old[i1]) != _indent(new[j1] if j2 > j1 else "")
            yield EditedLines(file, i1 + 1, i2 - i1, j2 - j1, follows and i1 > 0)


def _indent(line: str) -> int:
    """Return the width of a line's indentation; -1 for a blank line, which has none."""
    return len(line) - len(line.lstrip()) if line.strip() else -1


def _within(blocks: Sequence[EditedLines], cell: CellOf) -> str:
    """Return what is done to one file."""
    if len(blocks) > 1:
        total = _lines(sum(block.size for block in blocks))
        return f"change {total} ({' and '.join(_listed(blocks, cell))})"
    (block,) = blocks
    if not block.removed:
        place, line = ("after", block.first - 1) if block.follows else ("before", block.first)
        return f"add {_lines(block.added)} {place} {_place(block.file, line, line, cell)}"
    place = _place(block.file, block.first, block.first + block.removed - 1, cell)
    if not block.added:
        return f"delete {place}"
    counted = "" if block.added == block.removed else f" with {_lines(block.added)}"
    return f"replace {place}{counted}"


def _listed(blocks: Sequence[EditedLines], cell: CellOf) -> Iterator[str]:
    """Yield where the blocks are: `line 10`, `lines 12-14`."""
    spans = [(b.file, b.first, b.first + max(b.removed, 1) - 1) for b in blocks]
    if len(spans) > LISTED:
        spans = [(spans[0][0], spans[0][1], spans[-1][2])]
    yield from (_place(*span, cell) for span in spans)


def _place(file: str, first: int, last: int, cell: CellOf) -> str:
    begin, end = cell(file, first), cell(file, last)
    if begin and end:
        return begin if first == last else f"{begin} to {end}"
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _lines(count: int) -> str:
    return "one line" if count == 1 else f"{count} lines"
