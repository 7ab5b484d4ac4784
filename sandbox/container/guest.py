"""Pid 1 of a container: `python -P -m sandbox.container.guest ENTRY`.

Gets warm, says `{"ready": true}` or `{"refused": [wall, reason]}` as a frame on standard output,
reads one request from standard input, and answers with one packed `Outcome`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from typing import NoReturn

from sandbox.walls import libc, probe
from sandbox.walls.errors import WallError
from sandbox.watch.outcome import Outcome
from sandbox.watch.script import EXIT_BROKEN, Ends, Request, RunJob, prepare, reap
from sandbox.watch.watcher import Started, Watcher, connect
from sandbox.wire import WireError, pack, pack_json, receive_frame

_INPUT, _OUTPUT = 0, 1
_PR_SET_CHILD_SUBREAPER = 36
# What the engine was asked for; each is looked at before the script may start.
_STANDING = ["pid-namespace", "no-network", "read-only-root", "tmpfs", "pids-limit"]


def main(entry: str) -> None:
    """Serve one request, then end; an input that ends first ends this too."""
    try:
        run_job = _warm(entry)
    except Exception as error:
        _say(pack_json({"refused": ["interpreter", repr(error)]}))
        return
    _say(pack_json({"ready": True}))
    try:
        request = Request.from_json(receive_frame(_INPUT))
    except WireError:
        return
    _say(pack(_run(request, run_job).pack()))


def _warm(entry: str) -> RunJob:
    module, _, function = entry.partition(":")
    importlib.import_module("sandbox.inside.warm").warm_up()
    run_job: RunJob = getattr(importlib.import_module(module), function)
    prepare()
    return run_job


def _run(request: Request, run_job: RunJob) -> Outcome:
    for wall, fault in probe.look(_STANDING).items():
        if fault:
            return Outcome("unavailable", wall=wall, reason=fault)
    outer, inner = connect()
    pid = os.fork()
    if pid == 0:
        os.close(_INPUT)
        os.close(_OUTPUT)
        _reaper(request, run_job, inner)
    inner.close()
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    started = Started(pid, os.pidfd_open(pid), _kill, frozenset({os.getpid(), pid}), outer)
    return Watcher(started, request.limits, _INPUT).until_end()


def _reaper(request: Request, run_job: RunJob, ends: Ends) -> NoReturn:
    code = EXIT_BROKEN
    try:
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
