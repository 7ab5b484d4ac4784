"""Bind a traceback to the files that were sent, and select the evidence that agrees with it.

Paths in a traceback come from another machine: absolute, of Windows, of a notebook's cell, of a
part of a project. A frame belongs to the file whose path shares the longest end with its own and
that contains its code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from analyzers.evidence import (
    Evidence,
    GraphReuse,
    InplaceChange,
    KnownError,
    MissingGraph,
    SilentFault,
)
from analyzers.messages import entry_of
from analyzers.source.backward import backward_calls, is_guarded
from analyzers.source.project import Module, Project
from analyzers.tracebacks import ParsedTraceback, TracebackFrame
from provenance import CodeLine

_EXPLAINED_BY: dict[str, type[Evidence]] = {
    "graph-reuse": GraphReuse,
    "engine": GraphReuse,
    "inplace": InplaceChange,
    "no-grad": MissingGraph,
}


def explained_by(error: ParsedTraceback) -> type[Evidence] | None:
    """Return the kind of evidence that can explain the error; None for errors that are not
    autograd's. If the message identifies the fault, that is `KnownError`.
    """
    entry = entry_of(error.message, error.code)
    if entry is not None and entry.names_cause:
        return KnownError
    return _EXPLAINED_BY.get(error.family)


def located(error: ParsedTraceback, project: Project) -> ParsedTraceback:
    """Return the traceback with its frames at the project's own paths and lines where these are
    known. What was sent may be a part of the file that raised, or have another path.
    """
    places: dict[str, dict[str, list[int]]] = {}

    def of(frame: TracebackFrame) -> TracebackFrame:
        return _located(frame, project, places)

    frames = tuple(map(of, error.frames)) or _only_backward(error, project)
    return replace(
        error,
        frames=frames,
        forward_frames=tuple(map(of, error.forward_frames)),
    )


def _only_backward(error: ParsedTraceback, project: Project) -> tuple[TracebackFrame, ...]:
    """Return the frame that a message without frames must come from: the entry's only backward
    call.
    """
    module = project.module(project.entry)
    if error.kind not in ("detached", "non-scalar") or module is None:
        return ()
    backwards = [n for n, text in enumerate(module.lines, 1) if ".backward(" in text]
    if len(backwards) != 1 or not module.code(backwards[0]).endswith(")"):
        return ()
    calls = [call for call in backward_calls(module.tree) if call.lineno == backwards[0]]
    if error.kind == "detached" and any(is_guarded(call, module) for call in calls):
        return ()
    return (TracebackFrame(project.entry, backwards[0], "", module.code(backwards[0])),)


def _located(
    frame: TracebackFrame, project: Project, places: dict[str, dict[str, list[int]]]
) -> TracebackFrame:
    code = frame.code.strip()
    alike = _alike(frame, project)
    others = [] if frame.is_library or frame.file in project.files else [project.entry]
    for path in dict.fromkeys([*alike, *others]):
        module = project.module(path)
        if module is None:
            continue
        line = _line(module, frame.line, code, places.setdefault(path, {}))
        if line is None and not code and path in alike and module.code(frame.line):
            line = frame.line
        if line is not None:
            return replace(frame, file=path, line=line, is_library=False)
    return frame


def _alike(frame: TracebackFrame, project: Project) -> list[str]:
    """Return the project's files whose paths end like the frame's, best first. For a path in a
    library the file name alone does not suffice.
    """
    parts = frame.file.split("/")
    shared = {path: _common(path.split("/"), parts) for path in project.files}
    least = 2 if frame.is_library else 1
    return sorted((p for p, n in shared.items() if n >= least), key=lambda p: -shared[p])


def _common(one: list[str], two: list[str]) -> int:
    """Return how many parts two paths share at their ends."""
    count = 0
    for a, b in zip(reversed(one), reversed(two), strict=False):
        if a != b:
            break
        count += 1
    return count


def _line(module: Module, line: int, code: str, known: dict[str, list[int]]) -> int | None:
    """Return the line of a file that has the frame's code: the one it names, or the only one."""
    if not code:
        return None
    if not known:
        for number, text in enumerate(module.lines, 1):
            known.setdefault(text.strip(), []).append(number)
    found = known.get(code, [])
    if line in found:
        return line
    return found[0] if len(found) == 1 else None


def own_frames(error: ParsedTraceback, project: Project) -> list[TracebackFrame]:
    """Return the frames that are lines of the project, outermost first."""
    return [f for f in error.frames if not f.is_library and f.line and f.file in project.files]


def agreeing(
    evidence: Iterable[Evidence], error: ParsedTraceback, project: Project
) -> tuple[Evidence, ...]:
    """Return the evidence of the error's family that fails on a line of the traceback, innermost
    first. If there is none, return what does not fail after the line that raised.
    """
    kind = explained_by(error)
    pieces = [piece for piece in evidence if kind is not None and isinstance(piece, kind)]
    lines = [(frame.file, frame.line) for frame in own_frames(error, project)]
    named = [p for p in pieces if _failing(p) in lines]
    if named:
        return tuple(sorted(named, key=lambda p: -lines.index(_failing(p) or ("", 0))))
    last = error.location
    if not lines or last is None or (last.file, last.line) != lines[-1]:
        return tuple(pieces)
    return tuple(p for p in pieces if not _is_after(p, last, project))


def _failing(piece: Evidence) -> tuple[str, int] | None:
    """Return the line on which the evidence says that the error is raised."""
    at = failing_place(piece)
    return (at.file, at.line) if at is not None else None


def failing_place(piece: Evidence) -> CodeLine | None:
    """Return the place at which the error is raised, as far as the evidence knows."""
    match piece:
        case GraphReuse():
            return piece.reached.at
        case InplaceChange(reached=reached) if reached is not None:
            return reached.at
        case InplaceChange() | MissingGraph() | SilentFault() | KnownError():
            return piece.at
    return None


def _is_after(piece: Evidence, last: TracebackFrame, project: Project) -> bool:
    """Return True if evidence fails after the line that raised, in the same function, or in another
    file: the script did not get there, or not first.
    """
    at = failing_place(piece)
    module = project.module(last.file)
    if at is None or module is None:
        return False
    if at.file != last.file:
        return True
    return at.line > last.line and set(_scopes(module, at.line)) == set(_scopes(module, last.line))


def _scopes(module: Module, line: int) -> Iterator[int]:
    statement = module.statement_at(line)
    if statement is not None:
        yield id(module.scope_of(statement))
