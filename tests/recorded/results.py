"""Results as they are recorded, without what no two runs have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from sandbox.protocol import Job, RunResult
from tests.recorded.digests import ROOT, digest_of

DIGITS = 8  # of a number: torch computes in single precision, which has seven
CLOSE = 1e-5  # relative: sums in another order differ by less
MEASURED = {"duration_s", "waited_s", "peak_memory_mib"}
OPEN = ("stopped", "timed_out")  # how far such a run gets depends on the machine
_LOCAL = {*MEASURED, "stdout_tail", "stderr_tail", "backend", "walls", "traceback", "kept"}
_LOCAL |= {"packages"}  # which depend on what a warm parent had imported
_LOCAL |= {"idle"}  # a gradient that is all rounding is exactly zero on some processors only
_LINE = re.compile(  # of a library or the tracer: comments move it; the digest in a cell's name
    r"(?<=\.py):\d+(?= in )|(?<=\d)-[0-9a-f]{12,16}(?=>)"
)
_PROBE = "probe.py"  # in the frames of a plain run; comments move its lines, too
_COUNTS = {"ended", "figures", "reason", "exit_code", "silent", "unused"}  # what an end adds


def key_of(job: Job) -> str:
    """Return the digest of a job. Its time limit is left out: it is what is left of the time for
    all runs of a diagnosis, and so depends on the machine."""
    return digest_of(request_of(job))


def request_of(job: Job) -> dict[str, Any]:
    """Return what is recorded of a job: what is not at its default, so that a new field changes
    no key."""
    return job.model_dump(mode="json", exclude_defaults=True, exclude={"time_limit_s"})


def answer_of(result: RunResult) -> dict[str, Any]:
    """Return what is recorded of a result: its duration in whole seconds, since the host only asks
    whether a run was slow; no waiting, no memory; numbers to eight digits."""
    answer = normal(result.model_dump(mode="json", exclude_defaults=True))
    return {**answer, "duration_s": float(math.ceil(result.ran_s))}


def normal(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what was measured of the machine, its numbers to eight digits, and
    paths of this tree from its root."""
    found: dict[str, Any] = _portable(_without(answer, MEASURED))
    return found


def differences(recorded: dict[str, Any], live: dict[str, Any]) -> list[str]:
    """Return in what a run differs from its recording, beyond what depends on the machine. Of runs
    that time ended, records are compared as far as both go."""
    loose = recorded.get("status") in OPEN or live.get("status") in OPEN
    ignored = _LOCAL | _COUNTS | {"status"} if loose else _LOCAL
    return list(_differences(recorded, live, "", ignored, loose))[:5]


def _differences(ours: Any, theirs: Any, at: str, ignored: set[str], loose: bool) -> Iterator[str]:
    match ours, theirs:
        case [str(file), int()], [str(other), int()] if file == other == _PROBE:
            return
        case dict(), dict():
            for name in sorted((ours.keys() | theirs.keys()) - ignored):
                pair = ours.get(name), theirs.get(name)
                yield from _differences(*pair, f"{at}.{name}", ignored, loose)
        case list(), list():
            if len(ours) != len(theirs) and not loose:
                yield f"{at}: {len(theirs)} instead of {len(ours)}"
            if len(ours) != len(theirs):  # the last of each says where its run was stopped
                ours, theirs = ours[:-1], theirs[:-1]
            for n, pair in enumerate(zip(ours, theirs, strict=False)):
                yield from _differences(*pair, f"{at}[{n}]", ignored, loose)
        case int() | float(), int() | float():
            if not math.isclose(ours, theirs, rel_tol=CLOSE, abs_tol=CLOSE):
                yield f"{at}: {theirs!r} instead of {ours!r}"
        case str(), str() if _LINE.sub("", ours) == _LINE.sub("", theirs):
            return
        case _ if ours != theirs:
            yield f"{at}: {str(theirs)[:200]!r} instead of {str(ours)[:200]!r}"


def _without(value: Any, names: set[str]) -> Any:
    match value:
        case dict():
            return {key: _without(one, names) for key, one in value.items() if key not in names}
        case list():
            return [_without(one, names) for one in value]
        case _:
            return value


def _portable(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case str():
            return value.replace(f"{ROOT}/", "")
        case dict():
            return {key: _portable(one) for key, one in value.items()}
        case list():
            return [_portable(one) for one in value]
        case _:
            return value
