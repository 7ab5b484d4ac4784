"""Jupyter notebooks as scripts: cells in order, magics neutralised, lines mapped back."""

from __future__ import annotations

import ast
import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

_MAGICS = ("%", "!", "?")


class NotANotebookError(ValueError):
    """The text is not the JSON of a notebook."""


@dataclass(frozen=True)
class LineMap:
    """Where the lines of the script came from.

    `starts[i]` is the script line (1-based) at which the code cell numbered `cells[i]` begins;
    cells are numbered from 1 among all cells, as a reader counts them. `counts[i]` is the cell's
    execution count, None when it was never run. `reruns` are cells that were run again later
    than a cell below them.
    """

    starts: tuple[int, ...] = ()
    cells: tuple[int, ...] = ()
    counts: tuple[int | None, ...] = ()
    neutralised: tuple[int, ...] = ()
    reruns: tuple[int, ...] = ()
    length: int = 0

    def position(self, line: int) -> tuple[int, int]:
        """The cell and the line within it (both 1-based) of a script line."""
        index = max(bisect_right(self.starts, line) - 1, 0)
        if not self.starts:
            return 1, line
        return self.cells[index], line - self.starts[index] + 1

    def cell_line(self, line: int) -> str:
        """`cell 4, line 3`."""
        cell, inner = self.position(line)
        return f"cell {cell}, line {inner}"

    def span(self, cell: int) -> tuple[int, int]:
        """The first and last script line of a cell."""
        index = self.cells.index(cell)
        following = self.starts[index + 1 : index + 2]
        return self.starts[index], following[0] - 1 if following else self.length

    def cell_run_as(self, count: int) -> int | None:
        """The number of the cell with this execution count."""
        for cell, known in zip(self.cells, self.counts, strict=True):
            if known == count:
                return cell
        return None

    def script_line(self, count: int, line: int) -> int | None:
        """The script line of a traceback's `Cell In[count], line line`."""
        for start, known in zip(self.starts, self.counts, strict=True):
            if known == count:
                return start + line - 1
        return None


def is_notebook(text: str) -> bool:
    """Whether the text looks like a notebook's JSON rather than Python."""
    return text.lstrip()[:1] == "{" and '"cells"' in text


def to_project(text: str) -> tuple[str, LineMap]:
    """The notebook's code as one script of the same number of lines, and the map back.

    Raises `NotANotebookError` when the text is not a notebook.
    """
    script: list[str] = []
    starts: list[int] = []
    numbers: list[int] = []
    counts: list[int | None] = []
    neutralised: list[int] = []
    for number, cell in enumerate(_cells(text), 1):
        if cell.get("cell_type") != "code":
            continue
        starts.append(len(script) + 1)
        numbers.append(number)
        counts.append(_count(cell))
        lines, changed = _neutralised(_source(cell))
        neutralised.extend(starts[-1] + offset for offset in changed)
        script.extend(lines)
    line_map = LineMap(
        tuple(starts),
        tuple(numbers),
        tuple(counts),
        tuple(neutralised),
        _reruns(numbers, counts),
        len(script),
    )
    return "".join(f"{line}\n" for line in script), line_map


def _cells(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotANotebookError(f"not a notebook: {error}") from None
    cells = data.get("cells") if isinstance(data, dict) else None
    if cells is None and isinstance(data, dict):  # version 3 kept cells in worksheets
        sheets = data.get("worksheets")
        first = sheets[0] if isinstance(sheets, list) and sheets else None
        cells = first.get("cells") if isinstance(first, dict) else None
    if not isinstance(cells, list):
        raise NotANotebookError("not a notebook: it has no list of cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _count(cell: dict[str, Any]) -> int | None:
    count = cell.get("execution_count", cell.get("prompt_number"))
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _reruns(numbers: list[int], counts: list[int | None]) -> tuple[int, ...]:
    """Cells whose count exceeds that of a cell below: they ran again after it."""
    found: list[int] = []
    lowest: int | None = None
    for number, count in reversed(list(zip(numbers, counts, strict=True))):
        if count is not None:
            if lowest is not None and count > lowest:
                found.append(number)
            lowest = count if lowest is None else min(lowest, count)
    return tuple(reversed(found))


def _neutralised(source: str) -> tuple[list[str], list[int]]:
    """The cell's lines with what only IPython understands turned into `pass` or a comment."""
    lines = source.splitlines() or [""]
    if _parses(lines):
        return lines, []
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].lstrip().startswith("%%"):
        python = lines[first].split()[0] in ("%%time", "%%timeit", "%%capture", "%%prun")
        kept = lines[first + 1 :] if python else [f"# {line}" for line in lines[first + 1 :]]
        inner, changed = _neutralised("\n".join(kept)) if kept else ([], [])
        shifted = [first + 1 + offset for offset in changed]
        return [*lines[:first], f"# {lines[first]}", *inner], [first, *shifted]
    changed = []
    result = list(lines)
    for index, line in enumerate(lines):
        replaced = _plain_line(line)
        if replaced != line:
            result[index] = replaced
            changed.append(index)
    return result, changed


def _plain_line(line: str) -> str:
    """One line without magics: `x = !ls` and `%time f()` keep what is Python."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if text.startswith(("%time ", "%timeit ")):
        return indent + text.partition(" ")[2]
    if text.startswith(_MAGICS) or (text.endswith("?") and not text.startswith("#")):
        return f"{indent}pass  # {text}"
    name, equals, value = text.partition("=")
    if equals and value.strip().startswith(("!", "%")) and name.strip().isidentifier():
        return f"{indent}{name.strip()} = None  # {value.strip()}"
    return line


def _parses(lines: list[str]) -> bool:
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
