"""What would settle what a diagnosis had to leave open, the most useful step first."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.advice import Hint
from app.present import local_run
from app.request.case import Case
from app.run.reproduce import Observation
from app.schemas import NextStep, Patch, Verdict

MAX_STEPS = 8


def next_steps(
    decided: Verdict, case: Case, seen: Observation, patches: list[Patch]
) -> list[NextStep]:
    """Empty where nothing is open: a script that runs clean, or a patch that has passed."""
    passed = bool(patches) and patches[0].verification.status == "passed"
    if decided == "healthy" or passed:
        return []
    return [*_steps(decided, case, seen)][:MAX_STEPS]


def _steps(decided: Verdict, case: Case, seen: Observation) -> Iterator[NextStep]:
    if case.project.recalled:
        text = "Send the script: its lines tell which tensor is meant, and a patch can be run."
        yield NextStep(kind="file", text=text, field="script")
    elif case.notebook is None and not seen.from_run:
        yield NextStep(kind="run_local", text=local_run.HOW, value=local_run.command(case))
    yield from _needed(seen)
    if not seen.from_run:
        for hint in case.hints:
            yield NextStep(kind=hint.kind, text=told(hint, case), value=hint.code or None)
    if case.others:
        more = "another program stands" if case.others == 1 else f"{case.others} others stand"
        text = f"One program of the text was read; {more} in it. Send one alone to have it read."
        yield NextStep(kind="lines", text=text, field="script")


def _needed(seen: Observation) -> Iterator[NextStep]:
    """What the run asked for and did not get."""
    for need in seen.trace.needs if seen.trace is not None else []:
        text = f"It needs {need.name}: {need.detail}." if need.detail else f"It needs {need.name}."
        match need.kind:
            case "package":
                yield NextStep(kind="package", text=text, value=need.name)
            case "argument":
                yield NextStep(kind="arguments", text=text, field="args", value=need.name)
            case "file":
                yield NextStep(kind="file", text=text, field="files", value=need.name)


def told(hint: Hint, case: Case) -> str:
    """A hint with its place in front."""
    if hint.place is None:
        return hint.text[:1].upper() + hint.text[1:]
    cell = case.cell_of(hint.place)
    file = f" of `{hint.place.file}`" if hint.place.file != case.project.entry else ""
    return f"{(cell or f'line {hint.place.line}').capitalize()}{file}: {hint.text}"
