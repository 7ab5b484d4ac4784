"""What a reader should know before taking the answer as one about their own error."""

from __future__ import annotations

from collections.abc import Iterator

from app.request.case import Case
from app.schema_types import Verdict

_RAN_CLEAN: tuple[Verdict, ...] = ("healthy", "unreproduced")


def notes(decided: Verdict, case: Case) -> list[str]:
    """Return what was sent and does not belong together, each in a sentence."""
    return [*_of_traceback(case), *_of_trace(case), *_of_counts(decided, case)]


FEW = 2
"""Lines of code that are quoted from a script, rather than the script."""


def quotes_nothing(case: Case) -> bool:
    """Return True if a traceback quotes lines, and none of them is one of the script's."""
    if case.traceback is None or case.project.recalled:
        return False
    frames = (*case.traceback.forward_frames, *case.traceback.frames)
    quoted = {frame.code.strip() for frame in frames if not frame.is_library} - {""}
    texts = [*case.project.files.values(), *(pasted.sent for pasted in case.pasted.values())]
    if case.notebook is not None:
        texts += [slot.source for slot in case.notebook.slots]
    lines = {line.strip() for text in texts for line in text.splitlines()} - {""}
    return bool(quoted) and len(lines) > FEW and not quoted & lines


def _of_traceback(case: Case) -> Iterator[str]:
    if quotes_nothing(case):
        yield "The traceback quotes no line of this script: do the two belong together?"


def _of_trace(case: Case) -> Iterator[str]:
    trace = case.trace
    if trace is not None and not (trace.started or trace.ended or trace.backwards or trace.steps):
        yield (
            "The trace is not one that `gradmend_trace.py` wrote: no record in it could be read, "
            "and the answer does not use it."
        )


def _of_counts(decided: Verdict, case: Case) -> Iterator[str]:
    run = case.notebook.counts if case.notebook is not None else ()
    counts = [count for count in run if count is not None]
    if decided in _RAN_CLEAN and counts != [*range(1, len(counts) + 1)]:
        listed = ", ".join(str(count) for count in counts[:8])
        more = ", …" if len(counts) > 8 else ""
        yield (
            f"The cells have the execution counts {listed}{more}: in your kernel, cells ran again, "
            "in another order, or not at all. Here each ran once, from top to bottom."
        )
