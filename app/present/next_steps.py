"""What would settle what a diagnosis had to leave open, the most useful step first."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.advice import Hint
from analyzers.evidence import GraphReuse
from analyzers.request.binding import failing_place
from app.present import inconclusive, local_run, non_finite
from app.present.answer import with_place
from app.request.case import Case
from app.run.observation import Observation
from app.schema_types import Verdict
from app.schemas import NextStep, Patch

MAX_STEPS = 8
_OPEN: tuple[Verdict, ...] = ("inconclusive", "unreproduced")  # no cause was found


def next_steps(
    decided: Verdict, case: Case, seen: Observation, patches: list[Patch]
) -> list[NextStep]:
    """Return the next steps, at least one if no cause was found.

    Return an empty list if nothing is open: a script that runs clean, or a patch that has passed.
    """
    passed = bool(patches) and patches[0].verification.status == "passed"
    if decided == "healthy" or passed:
        return []
    return [*_steps(decided, case, seen)][:MAX_STEPS] or [*_more(decided, case)]


def _steps(decided: Verdict, case: Case, seen: Observation) -> Iterator[NextStep]:
    if case.fault is not None:
        text = f"Correct line {case.fault.line}, column {case.fault.column}: {case.fault.message}."
        yield NextStep(kind="lines", text=text, value=case.fault.code)
        asked = case.hints if case.asked is not None else ()
        yield from (NextStep(kind=hint.kind, text=with_place(hint, case)) for hint in asked)
        return
    if case.no_program:
        text = "Send the script itself, or the error's traceback."
        if inconclusive.is_pictured(case) or case.speaks_of_error:
            text = "Send the error's message and traceback as text, and the lines that raise it."
        yield NextStep(kind="file", text=text, field="script")
        yield from (NextStep(kind=hint.kind, text=with_place(hint, case)) for hint in case.hints)
        return
    if (
        non_finite.is_answer(seen, case)
        and not seen.evidence
        and (step := non_finite.next_step(seen))
    ):
        yield step
        return
    if case.project.recalled:
        text = "Send the script: its lines tell which tensor is meant, and a patch can be run."
        if inconclusive.is_cut_off(case):
            text = "Send the traceback's last line: it says what was raised."
        yield NextStep(kind="file", text=text, field="script")
    elif inconclusive.is_by_hand(case, seen.run) and not seen.from_run:
        text = "Compare a gradient with the slope, `(loss(w + h) - loss(w - h)) / (2 * h)`."
        yield NextStep(kind="lines", text=text)
    elif case.notebook is None and not seen.from_run:
        yield NextStep(kind="run_local", text=local_run.HOW, value=local_run.command(case))
    yield from _needed(seen)
    if not seen.from_run or decided in _OPEN:
        for hint in (*_shown(decided, case, seen), *case.hints):
            yield NextStep(kind=hint.kind, text=with_place(hint, case), value=hint.code or None)
    if case.others:
        more = "another program stands" if case.others == 1 else f"{case.others} others stand"
        text = f"One program of the text was read; {more} in it. Send one alone to have it read."
        yield NextStep(kind="lines", text=text, field="script")


def _shown(decided: Verdict, case: Case, seen: Observation) -> Iterator[Hint]:
    """Yield the lines that a run showed to contribute to an error which no pattern explains."""
    for piece in seen.evidence if seen.from_run and decided in _OPEN else ():
        at, text = failing_place(piece), "the error comes up here: look at what this line reads."
        if isinstance(piece, GraphReuse):
            at = next((edge.old.at for edge in piece.stale_edges if edge.old.at is not None), at)
            freed, again = piece.freed.at, piece.reached.at
            text = (
                f"the backward at line {freed.line} of `{freed.file}` freed what is made here, and "
                f"the one at line {again.line} of `{again.file}` needs it again. Compute it again "
                "between the two, or call backward once, on the sum of the losses."
            )
        if at is not None and at.line:
            yield Hint("lines", text, at, case.project.code(at.file, at.line))


def _more(decided: Verdict, case: Case) -> Iterator[NextStep]:
    if decided in _OPEN and case.traceback is None:
        text = "If it fails where you run it, send the error's whole traceback along."
        yield NextStep(kind="file", text=text, field="traceback")
    elif decided in _OPEN:
        text = "Send all that runs, with the error's whole traceback: this much shows no cause."
        yield NextStep(kind="file", text=text, field="script")


def _needed(seen: Observation) -> Iterator[NextStep]:
    """Yield what the run asked for and did not get."""
    for need in seen.trace.needs if seen.trace is not None else []:
        text = f"It needs {need.name}: {need.detail}." if need.detail else f"It needs {need.name}."
        match need.kind:
            case "package":
                yield NextStep(kind="package", text=text, value=need.name)
            case "argument":
                yield NextStep(kind="arguments", text=text, field="args", value=need.name)
            case "file":
                yield NextStep(kind="file", text=text, field="files", value=need.name)
            case "network":
                yield NextStep(kind="file", text=text, field="files")
            case "input":
                yield NextStep(kind="input", text=text, field="script")
