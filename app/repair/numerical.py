"""Check the script's own Functions by numerical derivatives: a run without an error does not show
that a backward returns the derivative of its forward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analyzers.source.linediff import opcodes
from app.schema_types import MEANT_TO_DIFFER
from app.schemas import Check
from sandbox.records import Gradcheck, Trace


def gradcheck(
    trace: Trace | None, before: Mapping[str, str], after: Mapping[str, str]
) -> Check | None:
    """Return the check of the Functions whose lines a patch changes; None if it changes none.

    One that differs is not a failure: a straight-through estimator differs on purpose.
    """
    found = trace.gradchecks if trace is not None else []
    return check_of([one for one in found if _is_changed(one, before, after)])


def check_of(compared: Sequence[Gradcheck]) -> Check | None:
    """Return the check of these Functions; None if there are none."""
    if not compared:
        return None
    if differing := [one for one in compared if one.outcome == "differs"]:
        functions = ", ".join(f"`{one.function}` for `{one.input}`" for one in differing)
        detail = (
            "torch.autograd.gradcheck: what backward returns is not the derivative of forward: "
            f"{functions}. Some are meant to differ: {MEANT_TO_DIFFER}."
        )
        return Check(name="gradcheck", status="differs", detail=detail)
    if unknown := [one for one in compared if one.outcome == "unknown"]:
        detail = f"torch.autograd.gradcheck cannot compare `{unknown[0].function}`: "
        return Check(name="gradcheck", status="not_run", detail=detail + unknown[0].text)
    functions = ", ".join(f"`{one.function}`" for one in compared)
    detail = "torch.autograd.gradcheck: what backward returns is the derivative of forward: "
    return Check(name="gradcheck", status="passed", detail=detail + functions)


def proves(trace: Trace | None, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if a patch changes nothing but Functions that equal numerical derivatives."""
    left = {(name, line) for name in after for line in _changed(before.get(name, ""), after[name])}
    for one in trace.gradchecks if trace is not None else ():
        if one.outcome == "same":
            left -= {(one.at.file, line) for line in _lines(one)}
    return not left


def _is_changed(one: Gradcheck, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    name = one.at.file
    changed = _changed(before.get(name, ""), after[name]) if name in after else ()
    return not set(changed).isdisjoint(_lines(one))


def _lines(one: Gradcheck) -> range:
    return range(one.at.line, one.end_line + 1)


def _changed(before: str, after: str) -> Iterator[int]:
    """Yield the lines (from 1) of the later version that a change wrote, or those after what it
    removed."""
    for tag, _, _, start, end in opcodes(before.splitlines(), after.splitlines()):
        if tag != "equal":
            yield from range(start + 1, max(end, start + 1) + 1)
