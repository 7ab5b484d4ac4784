"""Describe the outcome of a run: how it ended, how far it got, what it showed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.request.case import Case
from provenance import CodeLine
from sandbox.protocol import Raised, RunResult
from sandbox.records import Trace


def silent_kinds(result: RunResult) -> set[str]:
    """Return the kinds of silent faults that a run showed."""
    return {record.kind for record in result.trace.silent} if result.trace else set()


def is_inconclusive(result: RunResult) -> bool:
    """Return True if the run ended for the sandbox's reasons: no capacity, no time, or killed from
    outside.
    """
    killed = result.raised is not None and result.raised.type == "Signal"
    return result.status in ("unavailable", "timed_out", "stopped") or (
        killed and result.exit_code == -9
    )


def ending(result: RunResult) -> str:
    """Return a short description of how a run ended."""
    if result.raised is not None:
        first, _, _ = result.raised.message.partition("\n")
        return f"{result.raised.type}: {first}"
    return result.limit or result.reason or result.status.replace("_", " ")


def is_given(case: Case, raised: Raised | None) -> bool:
    """Return True if a run raised exactly the error that the traceback reports."""
    given = case.traceback
    return (
        given is not None
        and raised is not None
        and (given.exception, given.message) == (raised.type, raised.message)
    )


_ARITHMETIC = re.compile(r"def __(?:add|mul|matmul|sub)__\(")


def may_differentiate(files: Mapping[str, str]) -> bool:
    """Return True if files may define an `autograd.Function`, layers or an engine of their own,
    whose gradients a run compares with numerical ones."""
    return any(
        ("def backward" in text and ("Function" in text or "def forward" in text))
        or _ARITHMETIC.search(text)
        for text in files.values()
    )


def caught_at(run: RunResult) -> CodeLine | None:
    """Return where a backward call raised what the script caught; None if a call from there ever
    ended well.
    """
    calls = run.trace.backwards if run.trace is not None else []
    well = {(r.call.at.file, r.call.at.line) for r in calls if r.outcome == "ok"}
    raised = (record.call.at for record in calls if record.outcome == "raised")
    return next((at for at in raised if (at.file, at.line) not in well), None)


def all_recorded(trace: Trace) -> bool:
    """Return True if the trace has a record of every backward call, not of a sample."""
    return trace.ended is None or len(trace.backwards) >= trace.ended.backwards


def len_backwards(result: RunResult) -> int:
    """Return how many backward calls a run completed."""
    trace = result.trace
    if trace is None:
        return 0
    if trace.ended is not None:
        last = trace.backwards[-1].outcome if trace.backwards else "ok"
        return max(trace.ended.backwards - (last == "raised"), 0)
    return sum(1 for record in trace.backwards if record.outcome == "ok")
