"""Report the error of a request, and of a script that Python cannot read."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.explain.pattern import pattern_for
from analyzers.request.syntax import SyntaxFault
from analyzers.tracebacks import TracebackFrame
from app.present import verdict
from app.present.basis import is_completed
from app.request.case import Case
from app.run.observation import Observation
from app.schemas import (
    Cause,
    ErrorFrame,
    ErrorReport,
    Location,
)


def error_report(case: Case, seen: Observation, causes: list[Cause]) -> ErrorReport | None:
    """Return the error of the traceback given, else of the run."""
    if case.fault is not None:
        return _syntax_error(case.fault, case.project.entry)
    if case.no_program:
        message = "no line of what was sent is code"
        return ErrorReport(family="other", exception="SyntaxError", message=message)
    hint = causes[0].pattern if causes else None
    given = case.traceback
    if given is not None and given.exception:
        return ErrorReport(
            family=given.family,
            pattern_hint=pattern_for(given.kind) or hint,
            exception=given.exception,
            message=given.message,
            location=_own_line(given.frames),
            frames=[
                ErrorFrame(file=f.file, line=f.line, code=f.code, function=f.function)
                for f in given.frames
            ],
        )
    raised = seen.run.raised if seen.run is not None else None
    if raised is None:
        return None
    family = verdict.family_of(raised.message, raised.type)
    if family == "other" and is_completed(case, seen) and not (causes and seen.from_run):
        return None  # in what was synthesized it is not the user's: `run` reports it
    frames = [
        ErrorFrame(file=f.file, line=f.line, code=f.code, function=f.function)
        for f in raised.frames
    ]
    own = [f for f in frames if f.file in case.project.files]
    return ErrorReport(
        family=family,
        pattern_hint=hint,
        exception=raised.type,
        message=raised.message,
        location=Location(**own[-1].model_dump(exclude={"function"})) if own else None,
        frames=frames,
    )


def _syntax_error(fault: SyntaxFault, entry: str) -> ErrorReport:
    place = Location(file=entry, line=fault.line, column=fault.column, code=fault.code)
    return ErrorReport(
        family="other", exception="SyntaxError", message=fault.message, location=place
    )


def _own_line(frames: Sequence[TracebackFrame]) -> Location | None:
    own = [f for f in frames if not f.is_library] or list(frames)
    return Location(file=own[-1].file, line=own[-1].line, code=own[-1].code) if own else None
