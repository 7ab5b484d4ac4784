"""Findings as text for review: what a user reads, without measurements of the machine."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from app.schemas import Cause, Findings, Location, Patch, RunReport

WIDTH = 100
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z`])")
_STEPS = re.compile(r"(?:\ball|\b\d+ of) (\d+)(?= steps)")
MANY = 60  # a machine's speed decides how many more backward calls and steps there are; of parts
# of programs that were completed it decides all but one
_ROUNDING = re.compile(r"\b\d\.\d+e-(0[7-9]|[1-9]\d)")  # differs between processors


def described(found: Findings) -> str:
    """Return verdict, causes, patches as diffs, checks and next steps of a diagnosis; what several
    causes say is written once."""
    return "\n".join(_lines(found))


def _lines(found: Findings) -> Iterator[str]:
    many = 1 if found.basis == "completed" else MANY
    yield f"{found.verdict} ({found.basis}): {found.summary}"
    if found.run is not None or found.error is not None:
        yield "; ".join(_run(found, many))
    said = set[str]()
    for cause in found.causes:
        yield from _cause(cause, said)
    for patch in found.patches:
        yield from _patch(patch, whole=patch.n == 1, many=many)
    yield from (f"assumed: {one.text}" for one in found.world)
    yield from (f"note: {note}" for note in found.notes)
    yield from (f"next: {one.kind}: {one.text}" for one in found.next)


def _run(found: Findings, many: int) -> Iterator[str]:
    if found.run is not None:
        yield f"run: {found.run.status}, {_calls(found.run, many)}"
    if found.error is not None:
        at = f" at {_place(found.error.location)}" if found.error.location else ""
        yield f"error: {found.error.family}, {found.error.exception}{at}"


def _calls(run: RunReport, many: int) -> str:
    """How many backward calls it made, unless that depends on how fast the machine is."""
    stopped = run.stopped or run.status == "timed_out" or run.backward_calls > many
    return "many backward calls" if stopped else f"{run.backward_calls} backward calls"


def _cause(cause: Cause, said: set[str]) -> Iterator[str]:
    carrier = f", carrier {cause.carrier.name}" if cause.carrier else ""
    parameters = f", of {', '.join(cause.parameters)}" if cause.parameters else ""
    yield f"cause: {cause.pattern} ({cause.engine}, {cause.source}{carrier}{parameters})"
    events = [("created", cause.created), ("freed", cause.freed_by)]
    events += [("reached again", cause.reached_again_by)]
    shown = "".join(f"; {name} {_line(spot)}" for name, spot in events if spot is not None)
    yield f"  at {_place(cause.location)}{shown}"
    new = [one for one in _SENTENCE.split(cause.explanation) if one not in said]
    said.update(new)
    yield from _wrapped(" ".join(new))


def _patch(patch: Patch, *, whole: bool, many: int) -> Iterator[str]:
    checks = (c for c in patch.verification.checks if c.status != "passed")
    if many < MANY and not whole:
        checks = (c for c in checks if c.name != "schedule")
    failed = "".join(f", {check.name} {check.status}" for check in checks)
    of = f"{patch.level}, gradients {patch.gradients}"
    yield f"patch {patch.n}: {patch.strategy} ({of}): {patch.verification.status}{failed}"
    if whole:
        yield from _wrapped(patch.title)
        yield from _wrapped(patch.effect.text if patch.effect is not None else "", many)
        yield from (f"  | {line}".rstrip() for line in _changes(patch.diff))


def _changes(diff: str) -> Iterator[str]:
    """The lines that change, with where they are: the script itself is in its sheet."""
    for line in diff.splitlines():
        if not line.startswith(("--- ", " ")) and not line.startswith("+++ train."):
            yield line


def _line(spot: Location) -> str:
    return spot.cell or f"{spot.file}:{spot.line}"


def _place(spot: Location | None) -> str:
    if spot is None:
        return "no line"
    return f"{_line(spot)} `{spot.code.strip()}`"


def _wrapped(text: str, many: int = MANY) -> Iterator[str]:
    """A paragraph in lines that a diff can show."""
    text = _STEPS.sub(lambda n: n[0] if int(n[1]) <= many else f"{n[0].split()[0]} of many", text)
    for paragraph in _ROUNDING.sub("a rounding error", text).splitlines():
        indent = "  "
        yield from textwrap.wrap(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent)
