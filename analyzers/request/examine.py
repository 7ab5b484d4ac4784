"""Perform the static analysis of one request in one call: notebook, traceback, source. It is meant
to run in a worker process.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzers.advice import Hint, hints, hints_of
from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, KnownError, Reading
from analyzers.explain.pattern import pattern_for, patterns
from analyzers.explain.source_locations import resolve_location
from analyzers.messages import question_in
from analyzers.notebooks.notebook import (
    LineMap,
    NotANotebookError,
    is_notebook,
    stored_errors,
    to_project,
)
from analyzers.notebooks.notebook_text import Notebook, notebook_text
from analyzers.notebooks.replay import extra_runs, repeated, replays
from analyzers.paste import Pasted, is_python, legible, too_long
from analyzers.reading import read
from analyzers.request.binding import agreeing, explained_by, located, own_frames
from analyzers.request.causes import RankedCause, classify
from analyzers.request.input_split import split_inputs
from analyzers.request.syntax import SyntaxFault, syntax_fault
from analyzers.request.traceback_only import evidence_of, files_of, without_sources
from analyzers.source.cells import NotebookCell
from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback, TracebackFrame, lines_of_error, parse


@dataclass(frozen=True, slots=True)
class Examined:
    """The result of static analysis.

    `cells` maps a line of a notebook's script to `cell 4, line 3`; `pasted` are files that were
    converted to Python. If nothing in the source explains the error: `from_traceback` are causes
    from the traceback alone, `hints` are other possible explanations. `others` counts further
    programs in the same paste. `fault`: the syntax error of what was sent as a program;
    `no_program`: no line of it is code. `asked`: the id, in the catalogue of messages, of what the
    words around the code ask where no error is given.
    """

    project: Project
    traceback: ParsedTraceback | None
    reading: Reading
    problem: str | None = None
    cells: dict[int, str] = field(default_factory=dict)
    notebook: Notebook | None = None
    pasted: dict[str, Pasted] = field(default_factory=dict)
    from_traceback: tuple[RankedCause, ...] = ()
    hints: tuple[Hint, ...] = ()
    others: int = 0
    fault: SyntaxFault | None = None
    no_program: bool = False
    asked: str | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """Return the project's files."""
        return self.project.files

    @property
    def entry(self) -> str:
        """Return the path of the entry script."""
        return self.project.entry

    @property
    def recalled(self) -> bool:
        """Return True if the files contain only what a traceback shows."""
        return self.project.recalled


def examine(script: str, filename: str, files: Mapping[str, str], traceback: str) -> Examined:
    """Analyze a script (or a notebook's JSON), its further files, and a traceback. Never raises for
    what they contain: a script that is not Python gives a `problem` with the line.
    """
    if is_notebook(script):
        return _examine_notebook(script, filename, files, traceback)
    sent = split_inputs(script, traceback, (_predicts, _suspects))
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
        no_program=fault is None
        and problem is not None
        and legible(script) is None
        and not too_long(script),
    )
    words = found.around if sent.pasted is not None else script
    return _with_hints(examined, "\n".join(filter(None, (traceback, words))))


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
    parsed = _error_of(text, traceback)
    parsed = _in_cells(parsed, script, lines, entry) if parsed is not None else None
    orders = replays(lines, _failing(parsed, lines, entry))
    order = orders[0] if orders and parsed is not None else ()
    project = Project({**files, entry: script}, entry, notebook=True, rerun=repeated(order))
    problem = not_python(script, entry)
    cells = {n: lines.cell_line(n) for n in range(1, script.count("\n") + 2)}
    parsed = located(parsed, project) if parsed is not None else None
    reading = _read(project, problem, parsed, extra_runs(order, lines))
    notebook = replace(notebook_text(text, lines), replays=tuple(orders), counts=lines.counts)
    return _with_hints(Examined(project, parsed, reading, problem, cells, notebook), traceback)


def _with_hints(examined: Examined, sent: str) -> Examined:
    """Return the result with hints about an error of a known kind. `sent`: the words around the
    code, and the input that contained the error; both may contain settings too.
    """
    error, project = examined.traceback, examined.project
    if error is None or not (error.exception or error.frames):
        question = question_in(sent)
        found = hints_of(question, project, ParsedTraceback(), {"": sent}) if question else ()
        return replace(examined, hints=found, asked=question.id if question else None)
    of_error = lines_of_error(sent)
    prose = [line for at, line in enumerate(sent.splitlines()) if at not in of_error]
    found = hints(project, error, {"": "\n".join(prose)})
    if explained_by(error) is None:
        return replace(examined, hints=found)
    from_traceback = _causes_of_traceback(error, project.entry) or _cause_of_hint(
        error, found, project
    )
    return replace(examined, from_traceback=from_traceback, hints=found)


def _causes_of_traceback(error: ParsedTraceback, entry: str) -> tuple[RankedCause, ...]:
    """Return the causes that follow from the traceback alone."""
    found = evidence_of(error, entry)
    project = Project(files_of(error, entry), entry, recalled=True)
    causes = classify(project, (found,)) if found is not None else []
    return tuple(
        replace(c, explanation=without_sources(c.title, c.location, c.code)) for c in causes
    )


def _cause_of_hint(
    error: ParsedTraceback, found: Sequence[Hint], project: Project
) -> tuple[RankedCause, ...]:
    """Return the cause that a message without frames identifies, at the likeliest line. A guess
    justifies only one cause, and only in the entry: nothing shows that lines of other files are
    executed.
    """
    first = next((hint for hint in found if hint.place is not None and hint.blames), None)
    alone = error.kind is not None or error.family == "engine"
    if not alone or first is None or first.place is None or project.recalled:
        return ()
    if first.place.file != project.entry:
        return ()
    frame = TracebackFrame(first.place.file, first.place.line, "", _whole(first, project))
    made = (frame,) if error.family == "engine" else error.forward_frames
    causes = _causes_of_traceback(
        replace(error, frames=(frame,), forward_frames=made), project.entry
    )
    shown = first.points_to is not None
    return tuple(
        replace(
            _pointed_to(cause, first.points_to),
            certainty=Certainty.LIKELY if shown else Certainty.USUAL,
            remedy=first.text,
            explanation=f"The message says: {cause.title[:1].lower()}{cause.title[1:]}. No run and "
            f"no reading shows where. The likeliest of the lines sent is line {first.place.line}: "
            f"{first.text}",
        )
        for cause in causes[:1]
    )


def _pointed_to(cause: RankedCause, kind: str | None) -> RankedCause:
    """Return the cause as one of the pattern for another kind of fault."""
    name = pattern_for(kind)
    if name is None:
        return cause
    pattern = patterns()[name]
    return replace(cause, pattern=name, family=pattern.FAMILY, title=pattern.TITLE, carrier=None)


def _whole(hint: Hint, project: Project) -> str:
    """Return the simple statement that contains the hint's line, on one line."""
    where = resolve_location(project, hint.place)
    node = where.statement if where is not None else None
    return ast.unparse(node) if isinstance(node, ast.Assign | ast.Expr) else hint.code


def _recalled(parsed: ParsedTraceback, entry: str, sent: str) -> Examined:
    """Analyze a traceback alone."""
    found = evidence_of(parsed, entry)
    reading = Reading((found,) if found is not None else ())
    own = parsed.location
    cells = {}
    if own is not None and own.cell is not None:
        cells[own.line] = f"cell {own.cell}, line {own.line}"
    project = Project(files_of(parsed, entry), entry, recalled=True)
    return _with_hints(Examined(project, parsed, reading, cells=cells), sent)


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


def _error_of(text: str, traceback: str) -> ParsedTraceback | None:
    """Return the error to explain: the given one, else one of a known kind in the notebook's
    outputs (an interrupted cell is no fault).
    """
    if traceback.strip():
        return parse(traceback)
    stored = parse(stored_errors(text))
    return stored if stored.family != "other" else None


def _in_cells(parsed: ParsedTraceback, script: str, lines: LineMap, entry: str) -> ParsedTraceback:
    """Return the traceback with frames in cells (`Cell In[4], line 2`) converted to lines of the
    script.
    """
    code = [line.strip() for line in script.splitlines()]

    def located(frame: TracebackFrame) -> TracebackFrame:
        if frame.cell is None:
            return frame
        line = lines.script_line(frame.cell, frame.line)
        if frame.code and (line is None or code[line - 1] != frame.code.strip()):
            same = [n for n, text in enumerate(code, 1) if text == frame.code.strip()]
            line = same[0] if len(same) == 1 else line
        return replace(frame, file=entry, line=line) if line is not None else frame

    return replace(
        parsed,
        frames=tuple(map(located, parsed.frames)),
        forward_frames=tuple(map(located, parsed.forward_frames)),
    )


def _failing(parsed: ParsedTraceback | None, lines: LineMap, entry: str) -> int | None:
    """Return the cell that raised the error: that of the outermost frame within the notebook."""
    for frame in parsed.frames if parsed is not None else ():
        if frame.file == entry and lines.cells:
            return lines.position(frame.line)[0]
    return None


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
