"""Perform the static analysis of one request in one call: notebook, traceback, source. It is meant
to run in a worker process.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analyzers.evidence import Evidence, KnownError, Reading
from analyzers.messages import question_in
from analyzers.notebooks.notebook import (
    NotANotebookError,
    is_notebook,
    to_project,
)
from analyzers.notebooks.notebook_text import notebook_text
from analyzers.notebooks.replay import extra_runs, repeated, replays
from analyzers.paste import Pasted, is_python, legible, too_long
from analyzers.reading import read
from analyzers.request.binding import agreeing, explained_by, located, own_frames
from analyzers.request.examined import Examined
from analyzers.request.hinted import sure_line, with_hints
from analyzers.request.input_split import split_inputs
from analyzers.request.notebook_errors import error_of, failing, in_cells
from analyzers.request.syntax import syntax_fault
from analyzers.request.traceback_only import evidence_of, files_of
from analyzers.source.cells import NotebookCell
from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback, parse


def examine(script: str, filename: str, files: Mapping[str, str], traceback: str) -> Examined:
    """Analyze a script (or a notebook's JSON), its further files, and a traceback. Never raises for
    what they contain: a script that is not Python gives a `problem` with the line.
    """
    if is_notebook(script):
        return _examine_notebook(script, filename, files, traceback)
    sent = split_inputs(script, traceback, (_predicts, _suspects, _is_sure))
    parsed = sent.error
    if sent.pasted is None and parsed is not None and not files:
        return _recalled(parsed, filename, traceback or script)
    found = sent.pasted or Pasted(script, script)
    pasted = {filename: found, **_legible(files)}
    project = Project({**files, **{path: p.text for path, p in pasted.items()}}, filename)
    problem = not_python(found.text, filename)
    parsed = located(parsed, project) if parsed is not None else None
    again = _ran_again(project, parsed)
    project = replace(project, rerun=frozenset(cell.label for cell in again))
    reading = _read(project, problem, parsed, [(cell.first, cell.last) for cell in again])
    changed = {path: p for path, p in pasted.items() if p.text != p.sent}
    fault = syntax_fault(found) if parsed is None else None
    examined = Examined(
        project,
        parsed,
        reading,
        problem,
        pasted=changed,
        others=sent.others,
        fault=fault,
        no_program=_only_asks(script)
        or (
            fault is None
            and problem is not None
            and (sent.pasted is None or legible(script) is None)
            and not too_long(script)
        ),
    )
    words = found.around if sent.pasted is not None else script
    return with_hints(examined, "\n".join(filter(None, (traceback, words))))


def _only_asks(script: str) -> bool:
    """Return True for remarks alone that ask something: a title (`# Why …?`) is no program."""
    lines = [line for line in script.splitlines() if line.strip()]
    remarks = bool(lines) and all(line.lstrip().startswith("#") for line in lines)
    return remarks and ("?" in script or question_in(script) is not None)


def code_in(text: str) -> str:
    """Return the input if there is code in it, as in a thread; an empty string for a traceback
    alone.
    """
    return text if split_inputs("", text, ()).pasted is not None else ""


def _legible(files: Mapping[str, str]) -> dict[str, Pasted]:
    """Return the further files that are not valid Python but can be converted."""
    near = {
        path: legible(text)
        for path, text in files.items()
        if path.endswith(".py") and not is_python(text)
    }
    return {path: pasted for path, pasted in near.items() if pasted is not None}


def _ran_again(project: Project, error: ParsedTraceback | None) -> list[NotebookCell]:
    """Return the cell that raised the error, if its marker shows an earlier execution than the
    error does.
    """
    module = project.module(project.entry)
    for frame in error.frames if error is not None and module is not None else ():
        cell = module.cell_at(frame.line) if module and frame.file == project.entry else None
        if cell is not None and cell.count is not None and frame.cell is not None:
            return [cell] if frame.cell > cell.count else []
    return []


def _predicts(text: str, error: ParsedTraceback | None) -> bool:
    """Return True if the program certainly raises the error; without an
    error, if it fails at all.
    """
    evidence = read(Project({"pasted.py": text}, "pasted.py")).evidence
    kind = explained_by(error) if error is not None else None
    return bool(evidence) if kind is None else any(isinstance(piece, kind) for piece in evidence)


def _suspects(text: str, error: ParsedTraceback | None) -> bool:
    """Return True if the program may raise the error."""
    kind = explained_by(error) if error is not None else None
    if error is None or kind is None or kind is KnownError:
        return False
    reading = read(Project({"pasted.py": text}, "pasted.py"), suspecting=error.family)
    return any(isinstance(piece, kind) for piece in reading.evidence)


def _is_sure(text: str, error: ParsedTraceback | None) -> bool:
    """Return True if a line of the program surely is a fault, of an error that is not known."""
    known = error is not None and explained_by(error) is not None
    return not known and sure_line(Project({"pasted.py": text}, "pasted.py")) is not None


def _examine_notebook(
    text: str, filename: str, files: Mapping[str, str], traceback: str
) -> Examined:
    """Analyze a notebook as `examine` does. Without a traceback, use an error stored in its
    outputs.
    """
    entry = f"{filename.removesuffix('.ipynb').removesuffix('.py')}.py"
    try:
        script, lines = to_project(text)
    except NotANotebookError as error:
        parsed = parse(traceback) if traceback.strip() else None
        why = f"{filename}: {error}"
        return Examined(Project({**files, entry: text}, entry), parsed, Reading(), why)
    parsed = error_of(text, traceback)
    parsed = in_cells(parsed, script, lines, entry) if parsed is not None else None
    orders = replays(lines, failing(parsed, lines, entry))
    order = orders[0] if orders and parsed is not None else ()
    project = Project({**files, entry: script}, entry, notebook=True, rerun=repeated(order))
    problem = not_python(script, entry)
    cells = {n: lines.cell_line(n) for n in range(1, script.count("\n") + 2)}
    parsed = located(parsed, project) if parsed is not None else None
    reading = _read(project, problem, parsed, extra_runs(order, lines))
    notebook = replace(notebook_text(text, lines), replays=tuple(orders), counts=lines.counts)
    return with_hints(Examined(project, parsed, reading, problem, cells, notebook), traceback)


def _recalled(parsed: ParsedTraceback, entry: str, sent: str) -> Examined:
    """Analyze a traceback alone."""
    found = evidence_of(parsed, entry)
    reading = Reading((found,) if found is not None else ())
    own = parsed.location
    cells = {}
    if own is not None and own.cell is not None:
        cells[own.line] = f"cell {own.cell}, line {own.line}"
    project = Project(files_of(parsed, entry), entry, recalled=True)
    return with_hints(Examined(project, parsed, reading, cells=cells), sent)


def _read(
    project: Project,
    problem: str | None,
    error: ParsedTraceback | None,
    again: Sequence[tuple[int, int]] = (),
) -> Reading:
    """Return what static analysis predicts, as far as it agrees with the error. A known error that
    is not predicted is explained by what may happen, or else by the traceback itself.
    """
    if problem is not None or not project.files[project.entry].strip():
        return Reading()
    reading = read(project, again)
    kind = explained_by(error) if error is not None else None
    if error is None or kind is None:
        return reading
    if kind is KnownError:
        return replace(
            reading, evidence=(), suspected=_evidence_of_error(error, project), basis="error"
        )
    if agreed := agreeing(reading.evidence, error, project):
        return replace(reading, evidence=agreed, basis="bound")
    reading = replace(reading, evidence=())
    reached = tuple(frame.function for frame in own_frames(error, project))
    may_happen = read(project, again, suspecting=error.family, reached=reached).evidence
    if suspected := agreeing(may_happen, error, project):
        return replace(reading, suspected=suspected, basis="explains")
    return replace(reading, suspected=_evidence_of_error(error, project), basis="error")


def _evidence_of_error(error: ParsedTraceback, project: Project) -> tuple[Evidence, ...]:
    """Return what the traceback alone shows, if it passes through the project's files."""
    if explained_by(error) is not KnownError and not own_frames(error, project):
        return ()
    frames = tuple(f for f in error.frames if f.is_library or f.file in project.files)
    found = evidence_of(replace(error, frames=frames), project.entry)
    return (found,) if found is not None else ()


def not_python(script: str, filename: str) -> str | None:
    """Return why the source is not Python, with the line and the parser's
    message; None if it is.
    """
    try:
        ast.parse(script)
    except SyntaxError as error:
        met = (error.text or "").strip()
        shown = f" at `{met[:80]}`" if met else ""
        return f"{filename}, line {error.lineno}: {error.msg}{shown}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{filename}: {error or 'nested too deeply to be read'}"
    return None
