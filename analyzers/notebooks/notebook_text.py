"""A notebook's JSON as text in which the sources of single cells can be replaced.

Everything else stays as it was, byte for byte: outputs, metadata, order of keys, indentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match

from analyzers.notebooks.notebook import LineMap, neutralised, source_of
from analyzers.source.edits import unified_diff
from analyzers.source.linediff import append_block, matching_blocks, unified

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED = re.compile(r"\\u(?!00[01])")
Cells = Sequence[Sequence[str]]  # the lines of each cell, its marker first, line ends included


@dataclass(frozen=True)
class SourceSlot:
    """Where the source of a code cell stands in the JSON: `text[start:end]` is its value."""

    cell: int
    start: int
    end: int
    source: str


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was sent, with what leads from its script back to it.

    `replays` are orders of cells, by number, in which it may have been run;
    `counts`: the execution count of each code cell, None where it was never run.
    """

    text: str
    mark: str
    slots: tuple[SourceSlot, ...]
    replays: tuple[tuple[int, ...], ...] = ()
    counts: tuple[int | None, ...] = ()

    def spans(self, script: str, order: tuple[int, ...]) -> list[tuple[int, int]]:
        """Return the first and last line of each cell of the (patched) script, in that order.

        Raise `KeyError` if the script has lost a cell.
        """
        blocks = {
            cell: (first, first + len(lines) - 1) for cell, first, lines in self._split(script)
        }
        return [blocks[cell] for cell in order]

    def patched(self, script: str) -> str:
        """Return the notebook with the cells of a patched script; unchanged cells stay
        byte-equal."""
        text = self.text
        blocks = {cell: lines for cell, _, lines in self._split(script)}
        for slot in reversed(self.slots):
            before = neutralised(slot.source)
            after = blocks.get(slot.cell, before)
            if after != before:
                value = self._value(slot, _restored(slot.source, after))
                text = text[: slot.start] + value + text[slot.end :]
        return text

    def diff(self, path: str, before: str, after: str) -> str:
        """Return the unified diff of a patch, cell by cell, with magics as they were typed."""
        sources = {slot.cell: slot.source for slot in self.slots}
        versions = [
            [
                [line + "\n" for line in (f"{self.mark}{cell}", *_typed(sources[cell], lines))]
                for cell, _, lines in self._split(script)
            ]
            for script in (before, after)
        ]
        if [cell[0] for cell in versions[0]] != [cell[0] for cell in versions[1]]:
            return unified_diff(path, before, after)
        return diff_by_cells(path, *versions)

    def _split(self, script: str) -> Iterator[tuple[int, int, list[str]]]:
        """Yield each cell's number, its first line below the marker, and its lines."""
        cell: int | None = None
        first = 1
        lines: list[str] = []
        for number, line in enumerate(script.splitlines(), 1):
            if line.startswith(self.mark) and line[len(self.mark) :].isdecimal():
                if cell is not None:
                    yield cell, first, lines
                cell, first, lines = int(line[len(self.mark) :]), number + 1, []
            else:
                lines.append(line)
        if cell is not None:
            yield cell, first, lines

    def _value(self, slot: SourceSlot, source: str) -> str:
        """Return the source as JSON, laid out as the cell's was."""
        ascii_only = self.text.isascii() and bool(_ESCAPED.search(self.text))
        written = self.text[slot.start : slot.end]
        if not written.startswith("["):
            return json.dumps(source, ensure_ascii=ascii_only)
        lines = [json.dumps(line, ensure_ascii=ascii_only) for line in source.splitlines(True)]
        if "\n" not in written or not lines:
            return f"[{', '.join(lines)}]"
        inner = _space_after(written, 1)
        outer = written[len(written[:-1].rstrip()) : -1]
        return "[" + inner + f",{inner}".join(lines) + outer + "]"


def notebook_text(text: str, lines: LineMap) -> Notebook:
    """Return the notebook whose JSON was converted with this map."""
    found = [slot for slot in _slots(text) if slot.cell in lines.cells]
    return Notebook(text, lines.mark, tuple(sorted(found, key=lambda slot: slot.start)))


def _slots(text: str) -> Iterator[SourceSlot]:
    root = _members(text, len(_space_after(text, 0)))
    at = root["cells"][0] if "cells" in root else -1
    if text[at] != "[":  # as in `to_project`
        sheet = next(_elements(text, root["worksheets"][0]))[0]
        at = _members(text, sheet)["cells"][0]
    objects = [start for start, _ in _elements(text, at) if text[start] == "{"]
    for number, start in enumerate(objects, 1):
        members = _members(text, start)
        value = members.get("source", members.get("input"))
        if value is not None:
            yield SourceSlot(number, *value, source_of({"source": json.loads(text[slice(*value)])}))


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Return the spans of the values in the object that begins at `at`."""
    found: dict[str, tuple[int, int]] = {}
    at = _past(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _past(text, _past(text, at) + 1)  # after the colon
        _, end = _DECODER.raw_decode(text, start)
        found[key] = start, end
        at = _next(text, end)
    return found


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values in the array that begins at `at`."""
    at = _past(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield at, end
        at = _next(text, end)


def _next(text: str, end: int) -> int:
    """Return the offset of the following entry, or of the closing bracket."""
    at = _past(text, end)
    return _past(text, at + 1) if text[at] == "," else at


def _past(text: str, at: int) -> int:
    return at + len(_space_after(text, at))


def _space_after(text: str, at: int) -> str:
    match = _SPACE.match(text, at)
    return match[0] if match else ""


def _typed(source: str, script: list[str]) -> list[str]:
    """Return a cell's lines in the script; unchanged ones as the original has them, with magics."""
    written = source.splitlines() or [""]
    lines = list(script)
    for old, new, size in matching_blocks(neutralised(source), script):
        lines[new : new + size] = written[old : old + size]
    return lines


def _restored(source: str, after: list[str]) -> str:
    """Return the cell's new source."""
    lines = _typed(source, after)
    while lines and not lines[-1].strip():
        lines.pop()
    newline = "\r\n" if "\r\n" in source else "\n"
    ending = newline if source.endswith("\n") and lines else ""
    return newline.join(lines) + ending


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
