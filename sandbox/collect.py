"""Validate the bytes that a run left and turn them into what the service may believe."""

from __future__ import annotations

import errno
from io import BytesIO
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from sandbox.protocol import Job, Raised, RaisedFrame, RunResult
from sandbox.records import (
    Assumed,
    Backward,
    Failed,
    Final,
    Gradcheck,
    Inplace,
    Missing,
    Needs,
    NonFinite,
    ParameterFacts,
    Path,
    Planned,
    Precision,
    Reuse,
    RunEnd,
    RunStart,
    Silent,
    Step,
    Stub,
    Trace,
)
from sandbox.stderr import last_exception
from sandbox.watch.outcome import ProcessOutcome

MAX_LINE = 1 << 20
_MAX_REJECTED = 256
_MAX_DOUBTS = 16
_MAX_PARAMETERS = 4096
_MAX_LISTED = {
    "backwards": 4096,
    "steps": 4096,
    "silent": 64,
    "stubs": 64,
    "needs": 64,
    "assumed": 64,
    "gradchecks": 16,
}

_Line = Annotated[
    RunStart
    | ParameterFacts
    | Backward
    | Step
    | Reuse
    | Path
    | Inplace
    | Missing
    | Silent
    | Stub
    | Needs
    | Assumed
    | Planned
    | Final
    | Precision
    | NonFinite
    | Gradcheck
    | Failed
    | RunEnd,
    Field(discriminator="t"),
]
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line, config=ConfigDict(defer_build=True))


def run_result(job: Job, outcome: ProcessOutcome, backend: str) -> RunResult:
    """Return what a run did, as far as its outcome confirms it. Never raises."""
    trace, doubts = (None, []) if job.mode == "plain" else read_trace(outcome.records)
    result = RunResult(
        status="unavailable",
        exit_code=outcome.exit_code,
        limit=outcome.limit,
        reason=_reason(outcome),
        trace=trace,
        stdout_tail=_text(outcome.stdout),
        stderr_tail=_text(outcome.stderr),
        duration_s=outcome.duration_s,
        waited_s=outcome.waited_s,
        peak_memory_mib=outcome.peak_memory_mib,
        backend=backend,
        walls=outcome.walls,
    )
    return _judged(result, outcome, doubts)


def _judged(result: RunResult, outcome: ProcessOutcome, doubts: list[str]) -> RunResult:
    """Add the status, the exception, and every sign that the instruments were touched."""
    if outcome.ending in ("timed_out", "limit_hit"):
        return result.model_copy(update={"status": outcome.ending, "tampered": doubts})
    if outcome.ending != "exited":
        return result
    ended = result.trace.ended if result.trace else None
    if result.trace is not None and ended is None and (outcome.exit_code or 0) >= 0:
        doubts.append("it left before the tracer could say how it ended")
    if ended is not None:
        doubts += ended.tampered
        if (ended.reason == "raised") != (outcome.exit_code != 0):
            doubts.append("its exit code and its last record disagree")
    if outcome.exit_code != 0:
        raised = _raised(result, outcome)
        if outcome.near_task_limit and raised is not None and _is_refused_task(raised):
            # The watch looks from time to time, and the script gave up in between.
            met = {"status": "limit_hit", "limit": "processes", "tampered": doubts}
            return result.model_copy(update=met)
        return result.model_copy(update={"status": "raised", "raised": raised, "tampered": doubts})
    status = "stopped" if ended is not None and ended.reason == "stopped" else "finished"
    return result.model_copy(update={"status": status, "tampered": doubts})


def read_trace(data: bytes) -> tuple[Trace, list[str]]:
    """Return the validated records of a run, with the number of invalid ones,
    and signs of forgery.
    """
    trace = Trace()
    doubts: list[str] = []
    count = 0
    for line in BytesIO(data):
        if not line.strip():
            continue
        count += 1
        record = _parse(line)
        if record is None:
            trace.rejected += 1
            if trace.rejected >= _MAX_REJECTED:
                doubts.append(f"{_MAX_REJECTED} records are none; the rest was not read")
                return trace, doubts[:_MAX_DOUBTS]
        elif not _add(trace, record) and len(doubts) < _MAX_DOUBTS:
            doubts.append(f"more than one {record.t!r} record")
    if trace.ended is not None and trace.ended.records not in (None, count):
        doubts.append("records were added or are lost")
    return trace, doubts[:_MAX_DOUBTS]


def _parse(line: bytes) -> _Line | None:
    if len(line) > MAX_LINE:
        return None
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None


def _add(trace: Trace, record: _Line) -> bool:
    """Put a record in its place; false when it is one of which a run emits only one."""
    match record:
        case RunStart():
            return _once(trace, "started", record)
        case RunEnd():
            return _once(trace, "ended", record)
        case Reuse():
            return _once(trace, "reuse", record)
        case Path():
            return _once(trace, "path", record)
        case Inplace():
            return _once(trace, "inplace", record)
        case Failed():
            return _once(trace, "failed", record)
        case Planned():
            return _once(trace, "plan", record)
        case Final():
            return _once(trace, "final", record)
        case Precision():
            return _once(trace, "precision", record)
        case NonFinite():
            return _once(trace, "non_finite", record)
        case Missing():
            return _once(trace, "missing", record)
        case Gradcheck():
            _append(trace, "gradchecks", record)
        case ParameterFacts():
            trace.parameters += record.params[: _MAX_PARAMETERS - len(trace.parameters)]
        case Backward():
            _append(trace, "backwards", record)
        case Step():
            _append(trace, "steps", record)
        case Silent():
            again = (n for n, one in enumerate(trace.silent) if _is_same(one, record))
            if (known := next(again, None)) is not None:
                trace.silent[known] = record  # more is known at the end
            else:
                _append(trace, "silent", record)
        case Stub():
            _append(trace, "stubs", record)
        case Needs():
            _append(trace, "needs", record)
        case Assumed():
            _append(trace, "assumed", record)
    return True


def _is_same(one: Silent, other: Silent) -> bool:
    """Return True for one fault, reported twice with other details."""
    details = {"detail", "doubtful"}
    return one.model_dump(exclude=details) == other.model_dump(exclude=details)


def _once(trace: Trace, name: str, record: _Line) -> bool:
    if getattr(trace, name) is not None:
        return False
    setattr(trace, name, record)
    return True


def _append(trace: Trace, name: str, record: _Line) -> None:
    listed = getattr(trace, name)
    if len(listed) < _MAX_LISTED[name]:
        listed.append(record)
    else:
        trace.truncated = True


def _reason(outcome: ProcessOutcome) -> str | None:
    if outcome.wall is not None:
        return f"the wall {outcome.wall} could not be raised: {outcome.reason}"
    return outcome.reason


def _raised(result: RunResult, outcome: ProcessOutcome) -> Raised | None:
    """Return the exception from the tracer's record if there is one, else from the printed
    traceback.
    """
    printed = last_exception(result.stderr_tail)
    failed = result.trace.failed if result.trace else None
    if failed is None:
        return printed or _from_signal(outcome.exit_code)
    frames = [RaisedFrame(**frame.model_dump(exclude={"library"})) for frame in failed.frames]
    traceback = printed.traceback if printed else ""
    return Raised(type=failed.type, message=failed.message, frames=frames, traceback=traceback)


def _is_refused_task(raised: Raised) -> bool:
    """Return True if this is what Python raises where the kernel refuses a process or a thread."""
    if raised.type == "BlockingIOError":
        return f"[Errno {errno.EAGAIN}]" in raised.message
    return raised.type == "RuntimeError" and "can't start new thread" in raised.message


def _from_signal(exit_code: int | None) -> Raised | None:
    """Return a record for a process that a signal ended, which prints no exception; else None."""
    if exit_code is None or exit_code >= 0:
        return None
    return Raised(type="Signal", message=f"the script was ended by signal {-exit_code}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
