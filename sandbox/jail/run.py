"""Start one run: from a fork of the zygote to an init in fresh namespaces."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from typing import NoReturn

from sandbox.jail import namespaces, root
from sandbox.walls import libc, privileges
from sandbox.walls.errors import WallError
from sandbox.watch.outcome import ProcessOutcome
from sandbox.watch.script import EXIT_BROKEN, Ends, Request, RunJob, reap
from sandbox.watch.watcher import ForkedRun, Watcher, connect
from sandbox.wire import pack, receive_frame

_FRESH = {
    "mount-namespace": libc.CLONE_NEWNS,
    "ipc-namespace": libc.CLONE_NEWIPC,
    "uts-namespace": libc.CLONE_NEWUTS,
    "cgroup-namespace": libc.CLONE_NEWCGROUP,
    "no-network": libc.CLONE_NEWNET,
}
_STANDING = ["user-namespace", "pid-namespace", *_FRESH, "tmpfs"]
_INIT = 1


def watch_run(control: socket.socket, paths: list[str], run_job: RunJob) -> None:
    """Serve the one request on `control`; called in a fresh fork of the zygote."""
    request = Request.from_json(receive_frame(control.fileno()))
    try:
        started = _start(request, paths, run_job)
    except WallError as error:
        control.sendall(
            pack(ProcessOutcome("unavailable", wall=error.wall, reason=error.reason).pack())
        )
        return
    outcome = Watcher(started, request.limits, control.fileno()).until_end()
    if outcome.ending != "cancelled":
        control.sendall(pack(outcome.pack()))


def _start(request: Request, paths: list[str], run_job: RunJob) -> ForkedRun:
    """Fork the run's init into a user and a pid namespace of its own."""
    privileges.become_any()
    namespaces.enter_user_namespace(libc.CLONE_NEWPID)
    outer, inner = connect()
    pid = os.fork()
    if pid == 0:
        _init(request, paths, run_job, inner)
    inner.close()
    process = os.pidfd_open(pid)

    def kill() -> None:
        """End init, and with it, by the kernel's hand, all processes of its namespace."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)

    return ForkedRun(pid, process, kill, frozenset({_INIT}), outer)


def _init(request: Request, paths: list[str], run_job: RunJob, ends: Ends) -> NoReturn:
    """Run as pid 1 of the run: raise the walls that confine the tree, then reap until the script
    ends.
    """
    code = EXIT_BROKEN
    try:
        libc.die_with_parent(0)  # the parent is outside this pid namespace, hence 0
        namespaces.enter(_FRESH)
        namespaces.name_host()
        namespaces.raise_loopback()
        root.mount_scratch(request.limits, paths)
        namespaces.narrow_connections()
        code = reap(request, run_job, ends, _STANDING)
    except WallError as error:
        ends.refuse(error)
    finally:
        os._exit(code & 255)
