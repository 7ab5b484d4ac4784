"""Jupyter notebooks as scripts: cells under markers, magics neutralised, lines mapped back.

The script of a notebook holds a comment, `# %% cell 4`, above each code cell, so that whoever
reads or changes the script knows which cell a line belongs to.
"""

from __future__ import annotations

import ast
import json
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ERRORS = ("error", "pyerr")  # the second in notebooks of version 3
_MAGICS = ("%", "!", "?")


class NotANotebookError(ValueError):
    """The text is not the JSON of a notebook."""


@dataclass(frozen=True)
class LineMap:
    """Where the lines of the script came from.

    `starts[i]` is the script line (1-based) at which the code cell numbered `cells[i]` begins,
    below its marker; cells are numbered from 1 among all cells, as a reader counts them.
    `counts[i]` is the cell's execution count, None when it was never run. `mark` begins the
    markers, and no other line.
    """

    starts: tuple[int, ...] = ()
    cells: tuple[int, ...] = ()
    counts: tuple[int | None, ...] = ()
    length: int = 0
    mark: str = "# %% cell "

    def position(self, line: int) -> tuple[int, int]:
        """Return the cell and the line within it (both 1-based) of a script line."""
        index = max(bisect_right(self.starts, line) - 1, 0)
        if not self.starts:
            return 1, line
        return self.cells[index], line - self.starts[index] + 1

    def cell_line(self, line: int) -> str:
        """Return a script line as `cell 4, line 3`."""
        cell, inner = self.position(line)
        return f"cell {cell}, line {inner}"

    def span(self, cell: int) -> tuple[int, int]:
        """Return the first and last script line of a cell, its marker left out."""
        index = self.cells.index(cell)
        following = self.starts[index + 1 : index + 2]
        return self.starts[index], following[0] - 2 if following else self.length

    def cell_run_as(self, count: int) -> int | None:
        """Return the number of the cell with this execution count, or None."""
        for cell, known in zip(self.cells, self.counts, strict=True):
            if known == count:
                return cell
        return None

    def script_line(self, count: int, line: int) -> int | None:
        """Return the script line of a traceback's `Cell In[count], line line`, or None."""
        cell = self.cell_run_as(count)
        if cell is None:
            return None
        first, last = self.span(cell)
        return first + line - 1 if 0 < line <= last - first + 1 else None


def is_notebook(text: str) -> bool:
    """Return True if the text looks like a notebook's JSON rather than Python."""
    return text.lstrip()[:1] == "{" and '"cells"' in text


def to_project(text: str) -> tuple[str, LineMap]:
    """Return the notebook's code as one script, and the map back.

    Raise `NotANotebookError` if the text is not a notebook.
    """
    cells, mark = _code_cells(text)
    script: list[str] = []
    starts: list[int] = []
    for number, cell in cells:
        script.append(f"{mark}{number}")
        starts.append(len(script) + 1)
        script.extend(neutralised(source_of(cell)))
    numbers = tuple(number for number, _ in cells)
    counts = tuple(_count(cell) for _, cell in cells)
    line_map = LineMap(tuple(starts), numbers, counts, len(script), mark)
    return "".join(f"{line}\n" for line in script), line_map


def as_typed(text: str) -> str:
    """Return the same script, line for line, with the magics that IPython understands.

    Raise `NotANotebookError` if the text is not a notebook.
    """
    cells, mark = _code_cells(text)
    parts = ([f"{mark}{n}", *(source_of(cell).splitlines() or [""])] for n, cell in cells)
    return "".join(f"{line}\n" for lines in parts for line in lines)


def stored_errors(text: str) -> str:
    """Return the tracebacks that the notebook's outputs hold, in execution order.

    Raise `NotANotebookError` if the text is not a notebook.
    """
    found: list[tuple[int, str]] = []
    for cell in _cells(text):
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            if isinstance(output, dict) and output.get("output_type") in _ERRORS:
                found.append((_count(cell) or 0, _printed(output)))
    return _clean("\n\n".join(printed for _, printed in sorted(found, key=lambda e: e[0])))


def source_of(cell: dict[str, Any]) -> str:
    """Return the source of a cell, which notebooks store whole or as a list of lines."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return _clean(source) if isinstance(source, str) else ""


def _clean(text: str) -> str:
    """Return the text without what JSON can encode and no file can hold: NUL, lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _printed(output: dict[str, Any]) -> str:
    """Return an error output as it was shown, with the exception's line, which some writers
    omit."""
    lines = output.get("traceback")
    shown = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    last = f"{output.get('ename', '')}: {output.get('evalue', '')}"
    if not shown or str(output.get("evalue", "")) not in shown[-1]:
        shown.append(last)
    return "\n".join(shown)


def _is_code(cell: dict[str, Any]) -> bool:
    return cell.get("cell_type") == "code"


def _code_cells(text: str) -> tuple[list[tuple[int, dict[str, Any]]], str]:
    """Return the code cells with their numbers among all cells, and the prefix of their markers."""
    cells = [(n, cell) for n, cell in enumerate(_cells(text), 1) if _is_code(cell)]
    return cells, _unused_mark(source_of(cell) for _, cell in cells)


def _unused_mark(sources: Iterable[str]) -> str:
    """Return a prefix for markers with which no line of the notebook begins."""
    lines = [line for source in sources for line in source.splitlines()]
    word = "cell"
    while any(line.startswith(f"# %% {word} ") for line in lines):
        word = f"_{word}"
    return f"# %% {word} "


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


def _count(cell: dict[str, Any]) -> int | None:
    count = cell.get("execution_count", cell.get("prompt_number"))
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def neutralised(source: str) -> list[str]:
    """Return the cell's lines with magics turned into `pass` or a comment."""
    lines = source.splitlines() or [""]
    if _parses(lines):
        return lines
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].lstrip().startswith("%%"):
        python = lines[first].split()[0] in ("%%time", "%%timeit", "%%capture", "%%prun")
        kept = lines[first + 1 :] if python else [f"# {line}" for line in lines[first + 1 :]]
        inner = neutralised("\n".join(kept)) if kept else []
        return [*lines[:first], f"# {lines[first]}", *inner]
    return [_plain_line(line) for line in lines]


def _plain_line(line: str) -> str:
    """Return one line without magics: `x = !ls` and `%time f()` keep what is Python."""
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
