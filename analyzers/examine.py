"""All reading of one request in one call: notebook, traceback, source. Made to run in a worker."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.evidence import Reading
from analyzers.notebook import NotANotebookError, is_notebook, to_project
from analyzers.reading import read
from analyzers.source import Project
from analyzers.tracebacks import ParsedTraceback, parse


@dataclass(frozen=True, slots=True)
class Examined:
    """What reading gives. `cells` maps a line of a notebook's script to `cell 4, line 3`."""

    files: dict[str, str]
    entry: str
    traceback: ParsedTraceback | None
    reading: Reading
    problem: str | None = None
    cells: dict[int, str] = field(default_factory=dict)


def examine(script: str, filename: str, files: Mapping[str, str], traceback: str) -> Examined:
    """Read a script (or a notebook's JSON), its further files, and a traceback. Never raises for
    what they hold: a script that is not Python gives a `problem` with the line."""
    cells: dict[int, str] = {}
    entry = filename
    problem = None
    if is_notebook(script):
        entry = f"{filename.removesuffix('.ipynb').removesuffix('.py')}.py"
        try:
            script, lines = to_project(script)
            cells = {n: lines.cell_line(n) for n in range(1, script.count("\n") + 2)}
        except NotANotebookError as error:
            problem = f"{filename}: {error}"
    parsed = parse(traceback) if traceback.strip() else None
    project = Project({**files, entry: script}, entry)
    problem = problem or not_python(script, entry)
    reading = read(project) if problem is None and script.strip() else Reading()
    return Examined(dict(project.files), entry, parsed, reading, problem, cells)


def not_python(script: str, filename: str) -> str | None:
    """Why the text is not Python, with the line and what the parser met; None if it is."""
    try:
        ast.parse(script)
    except SyntaxError as error:
        met = (error.text or "").strip()
        shown = f" at `{met[:80]}`" if met else ""
        return f"{filename}, line {error.lineno}: {error.msg}{shown}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{filename}: {error or 'nested too deeply to be read'}"
    return None
