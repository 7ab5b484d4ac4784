"""Run as pid 1 of a container: `python -P -m sandbox.container.guest ENTRY`.

Import what runs need and write `{"ready": true}` or `{"refused": [wall, reason]}` as a frame to
standard output. Read a request from standard input, answer with one packed `ProcessOutcome`, remove
what the run left, and write `{"ready": true}` again, or `{"worn": reason}` and end: one run after
the other.

Scripts run as the user of this process. They cannot harm it: the kernel withholds from pid 1 all
signals without a handler, its memory is closed (not dumpable) and shared with no process, and
anything else that they may set from outside is compared with its earlier value.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from typing import NoReturn

from sandbox.container.cleanup import ContainerState
from sandbox.walls import libc, probe
from sandbox.walls.errors import WallError
from sandbox.watch.outcome import ProcessOutcome
from sandbox.watch.script import EXIT_BROKEN, Ends, Request, RunJob, prepare, reap
from sandbox.watch.watcher import ForkedRun, Watcher, connect
from sandbox.wire import WireError, pack, pack_json, receive_frame

_INPUT, _OUTPUT = 0, 1
_PR_SET_CHILD_SUBREAPER = 36
# The walls requested from the engine; each is probed before a script may start.
_STANDING = ["pid-namespace", "no-network", "read-only-root", "tmpfs", "pids-limit"]


def main(entry: str) -> None:
    """Serve requests until a run leaves a doubt, or the input ends."""
    try:
        run_job = _warm(entry)
        _close_oneself()
        room = ContainerState.emptied()
    except Exception as error:
        _say(pack_json({"refused": ["interpreter", repr(error)]}))
        return
    doubt: str | None = None
    while doubt is None:
        _say(pack_json({"ready": True}))
        try:
            request = Request.from_json(receive_frame(_INPUT))
        except WireError:
            return
        outcome = _run(request, run_job)
        _say(pack(outcome.pack()))
        doubt = doubt_about(outcome) or room.restored()
    _say(pack_json({"worn": doubt}))


def _warm(entry: str) -> RunJob:
    module, _, function = entry.partition(":")
    importlib.import_module("sandbox.inside.warm").warm_up()
    run_job: RunJob = getattr(importlib.import_module(module), function)
    prepare()
    return run_job


def _close_oneself() -> None:
    """Remove every signal handler, and make the memory unreadable and unwritable for others."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    with open("/proc/self/status", encoding="utf-8", errors="replace") as status:
        caught = [line for line in status if line.startswith("SigCgt:") and int(line[7:], 16)]
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        shared = [line for line in maps if line.split()[1][1::2] == "ws"]
    if caught or shared:
        raise RuntimeError(f"pid 1 could be reached by {caught or shared}")


def doubt_about(outcome: ProcessOutcome) -> str | None:
    """Return why no further run may follow this run, however well it is cleaned up; None if one
    may.
    """
    if outcome.ending != "exited":
        return f"a run ended {outcome.ending}"
    if "landlock" not in outcome.walls:
        return "a run could write to more than its own directories"
    return None


def _run(request: Request, run_job: RunJob) -> ProcessOutcome:
    for wall, fault in probe.look(_STANDING).items():
        if fault:
            return ProcessOutcome("unavailable", wall=wall, reason=fault)
    outer, inner = connect()
    pid = os.fork()
    if pid == 0:
        os.close(_INPUT)
        os.close(_OUTPUT)
        _reaper(request, run_job, inner)
    inner.close()
    started = ForkedRun(pid, os.pidfd_open(pid), _kill, frozenset({os.getpid(), pid}), outer)
    return Watcher(started, request.limits, _INPUT).until_end()


def _reaper(request: Request, run_job: RunJob, ends: Ends) -> NoReturn:
    code = EXIT_BROKEN
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        code = reap(request, run_job, ends, _STANDING)
    except WallError as error:
        ends.refuse(error)
    finally:
        os._exit(code & 255)


def _kill() -> None:
    """End every process of the container but this one, which the kernel spares as pid 1."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _say(frame: bytes) -> None:
    while frame:
        frame = frame[os.write(_OUTPUT, frame) :]


if __name__ == "__main__":
    main(sys.argv[1])
