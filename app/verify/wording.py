"""Describe a comparison in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from math import inf

from analyzers.explain.pattern import pattern_seen_as
from app.run import outcome
from app.verdict import Witness
from app.verify.compared_version import Version
from app.verify.difference import Compared, Difference
from provenance import CodeLine
from sandbox.protocol import RunResult

RANDOM = "other random numbers"
ROUNDING = "rounding"
PRECISION = "other precision"
OUTPUT = "prints something else"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
NEAR = 1e-3  # between printed numbers: rounding of the last digit


def witness_of(compared: Compared, before: Version, after: Version) -> Witness | None:
    """Return the first difference, with the lines of the first loss that differs by then; None if
    there is none.
    """
    first = compared.first
    if first is None:
        return None
    ours, theirs, losses = _places(compared, first)
    return Witness(
        step=first.step,
        last_equal_step=first.since or None,
        parameter=first.parameter,
        what=first.what,
        difference=first.gap,
        line_before=ours.line if ours else None,
        line_after=theirs.line if theirs else None,
        file_before=ours.file if ours else "",
        file_after=theirs.file if theirs else "",
        code_before=_code(before, ours),
        code_after=_code(after, theirs),
        loss_before=losses[0],
        loss_after=losses[1],
    )


def describe(first: Difference) -> str:
    """Return a description such as `at step 9, net.weight: gets another
    gradient (off by 8.4e-01)`.
    """
    when = _when(first.step, first.since)
    off = f" (off by {first.gap:.1e})" if first.gap is not None else ""
    return f"{when}, {first.parameter or 'a parameter'}: {first.what}{off}"


def silent_faults(one: RunResult, other: RunResult) -> list[str]:
    """Return messages about silent faults that are left, gone, or new, by the catalogue's names."""
    before, after = _faults_of(one), _faults_of(other)
    return [
        *(f"both train with a fault: {fault}" for fault in sorted(before & after)),
        *(f"a fault is gone: {fault}" for fault in sorted(before - after)),
        *(f"a new fault: {fault}" for fault in sorted(after - before)),
    ]


def _faults_of(result: RunResult) -> set[str]:
    seen = map(pattern_seen_as, outcome.silent_kinds(result))
    return {f"{pattern.ID} {pattern.TITLE}" for pattern in seen if pattern is not None}


def printed_difference(one: RunResult, other: RunResult) -> str | None:
    """Return a message about the first line that is printed differently, apart from rounding; None
    if there is none.
    """
    if one.status != "finished" or other.status != "finished":
        return None
    for ours, theirs in zip_longest(one.stdout_tail.splitlines(), other.stdout_tail.splitlines()):
        if not _prints_alike(ours or "", theirs or ""):
            return f"{OUTPUT}: {(ours or '')[:60]!r}, now {(theirs or '')[:60]!r}"
    return None


def _prints_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    ours, theirs = NUMBER.findall(one), NUMBER.findall(other)
    if NUMBER.sub("#", one) != NUMBER.sub("#", other) or len(ours) != len(theirs):
        return False
    return all(
        a == b or ("." in a + b and abs(float(a) - float(b)) <= NEAR * max(abs(float(a)), NEAR))
        for a, b in zip(ours, theirs, strict=True)
    )


def counted(compared: Compared) -> str:
    """Return how many steps were compared, of how many."""
    if compared.is_sample:
        seen = " seen" if compared.stopped else ""
        return f"{compared.steps} compared of {compared.total} steps{seen}"
    if compared.stopped:
        return f"in the first {compared.steps} steps"
    return f"{compared.steps} of {compared.steps} steps"


def _when(step: int | None, since: int) -> str:
    if since:
        return f"between the compared steps {since} and {step}"
    if step is None:
        return "at the end"
    return f"at step {step}" if step else "before the first step"


def _places(
    compared: Compared, first: Difference
) -> tuple[CodeLine | None, CodeLine | None, tuple[float | None, float | None]]:
    loss = compared.loss
    until = first.ours.after if first.ours is not None else inf
    if loss is not None and loss.ours.call.n <= until:
        values = loss.ours.loss, loss.theirs.loss
        return loss.ours.call.at, loss.theirs.call.at, values
    ours, theirs = first.ours, first.theirs
    return (ours.at if ours else None), (theirs.at if theirs else None), (None, None)


def _code(version: Version, place: CodeLine | None) -> str:
    lines: Mapping[int, str] = {}
    if place is not None and place.file in version.files:
        lines = dict(enumerate(version.files[place.file].splitlines(), 1))
    return lines.get(place.line, "").strip()[:300] if place is not None else ""
