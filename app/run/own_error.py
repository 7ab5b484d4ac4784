"""A known error that a whole script raised in its run: the answer is about it."""

from __future__ import annotations

from dataclasses import replace

from analyzers.advice import hints
from analyzers.messages import entry_of
from analyzers.tracebacks import ParsedTraceback, TracebackFrame
from app.request.case import READING_LIMIT_S, Case
from app.request.reader import Reader, ReadingLimit
from app.run.completion import is_own
from app.run.observation import Observation


async def with_own_error(case: Case, seen: Observation, reader: Reader) -> Case:
    """Return the case with the error that the run raised as the one that was given.

    The run decides where no message was sent, and the words ask nothing that is known or speak of
    an error themselves. What a harness raises may come of the harness.
    """
    raised = seen.run.raised if seen.run is not None else None
    if raised is None or seen.evidence or case.is_error_given:
        return case
    if seen.plan is not None and not is_own(seen.trace):
        return case
    entry = entry_of(raised.message)
    if entry is None or (case.asked is not None and not case.words_speak_of_error):
        return case
    own = case.project.files
    frames = tuple(
        TracebackFrame(f.file, f.line, f.function, f.code, f.file not in own) for f in raised.frames
    )
    error = ParsedTraceback(raised.type, raised.message, entry.family, entry.kind, frames)
    try:
        found = await reader.call(hints, case.project, error, timeout=READING_LIMIT_S)
    except ReadingLimit:
        return case
    return replace(case, traceback=error, hints=found, asked=None)
