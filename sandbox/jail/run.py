"""One run: from a fork of the zygote to the script, raising the walls on the way."""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NoReturn

from sandbox.jail import namespaces, root
from sandbox.walls import landlock, libc, limits, privileges, probe, seccomp
from sandbox.walls.errors import WallError
from sandbox.walls.limits import Limits
from sandbox.watch.outcome import Outcome
from sandbox.watch.watcher import Started, Watcher
from sandbox.wire import pack, receive_frame

RunJob = Callable[[dict[str, Any], int], int]

RECORDS = 3
EXIT_BROKEN = 70

_FRESH = {
    "mount-namespace": libc.CLONE_NEWNS,
    "ipc-namespace": libc.CLONE_NEWIPC,
    "uts-namespace": libc.CLONE_NEWUTS,
    "cgroup-namespace": libc.CLONE_NEWCGROUP,
    "no-network": libc.CLONE_NEWNET,
}


@dataclass(frozen=True)
class Request:
    """What the launcher asks of one run."""

    job: dict[str, Any]
    limits: Limits
    probe: bool
    allow_missing: list[str]
    paths: list[str]


def watch_run(control: socket.socket, paths: list[str], run_job: RunJob) -> None:
    """Serve the one request on `control`; called in a fresh fork of the zygote."""
    asked = json.loads(receive_frame(control))
    request = Request(
        job=asked["job"],
        limits=Limits(**asked["limits"]),
        probe=asked["probe"],
        allow_missing=asked["allow_missing"],
        paths=paths,
    )
    try:
        started = _start(request, run_job)
    except WallError as error:
        control.sendall(pack(Outcome("unavailable", wall=error.wall, reason=error.reason).pack()))
        return
    outcome = Watcher(started, request.limits, control).until_end()
    if outcome.ending != "cancelled":
        control.sendall(pack(outcome.pack()))


def _start(request: Request, run_job: RunJob) -> Started:
    """Fork the run's init into a user and a pid namespace of its own."""
    began = time.monotonic()
    namespaces.enter_user_namespace(libc.CLONE_NEWPID)
    (out, out_in), (err, err_in), (records, records_in) = os.pipe(), os.pipe(), os.pipe()
    reports, reports_in = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        _init(request, run_job, (out_in, err_in, records_in), reports_in, began)
    for handle in (out_in, err_in, records_in):
        os.close(handle)
    reports_in.close()
    return Started(pid, os.pidfd_open(pid), reports, out, err, records)


def _init(
    request: Request,
    run_job: RunJob,
    streams: tuple[int, int, int],
    reports: socket.socket,
    began: float,
) -> NoReturn:
    """Pid 1 of the run: raise the walls that hold the tree, then reap until the script ends."""
    code = EXIT_BROKEN
    try:
        libc.die_with_parent(0)  # the parent is outside this pid namespace, hence 0
        namespaces.enter(_FRESH)
        namespaces.name_host()
        namespaces.raise_loopback()
        root.mount_scratch(request.limits, request.paths)
        script = os.fork()
        if script == 0:
            _script(request, run_job, streams, reports, began)
        # Nothing within may read or write the memory of this process.
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        code = _reap_until(script)
        reports.send(json.dumps({"exit": code}).encode())
    except WallError as error:
        reports.send(json.dumps({"refused": [error.wall, error.reason]}).encode())
    finally:
        os._exit(code & 255)


def _reap_until(script: int) -> int:
    """Wait for all orphans of the run, until the script itself ends; its exit code."""
    while True:
        pid, status = os.wait()
        if pid == script:
            return os.waitstatus_to_exitcode(status)


def _script(
    request: Request,
    run_job: RunJob,
    streams: tuple[int, int, int],
    reports: socket.socket,
    began: float,
) -> NoReturn:
    """Raise the walls that hold a process, report them, and run the job."""
    code = EXIT_BROKEN
    try:
        _arrange_descriptors(streams)
        walls = _confine(request)
        _write_files(request.job["files"])
        _report(reports, walls, began)
        reports.close()
        os.closerange(RECORDS + 1, os.sysconf("SC_OPEN_MAX"))
        code = probe.report(RECORDS) if request.probe else run_job(request.job, RECORDS)
        sys.stdout.flush()
        sys.stderr.flush()
    except WallError as error:
        reports.send(json.dumps({"refused": [error.wall, error.reason]}).encode())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code & 255)


def _arrange_descriptors(streams: tuple[int, int, int]) -> None:
    """Nothing on 0, the streams on 1, 2 and 3."""
    nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    sources = [os.dup(handle) for handle in (nothing, *streams)]
    for target, source in enumerate(sources):
        os.dup2(source, target, inheritable=target < RECORDS)


def _confine(request: Request) -> list[str]:
    """Raise this process's own walls; the names of all that stand now."""
    walls = ["user-namespace", "pid-namespace", *_FRESH, "tmpfs", "memory-watch"]
    os.setsid()
    os.chdir(root.WORK)
    limits.apply(request.limits)
    privileges.drop_capabilities()
    privileges.forbid_new_privileges()
    walls += ["rlimits", "no-capabilities", "no-new-privs"]
    for name, apply in (("landlock", _landlock), ("seccomp", seccomp.apply)):
        try:
            apply()
        except WallError as error:
            if error.wall not in request.allow_missing:
                raise
        else:
            walls.append(name)
    return walls


def _landlock() -> None:
    landlock.apply(root.WRITABLE)


def _write_files(files: dict[str, str]) -> None:
    """The project, in the run's own scratch directory; within the walls already."""
    for name, text in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise WallError("files", f"{name!r} is not a path within the project")
        os.makedirs(path.parent, exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)


def _report(reports: socket.socket, walls: list[str], began: float) -> None:
    """Say that the script starts now, and hand out what the watcher measures it by."""
    places = ("/proc", *root.WRITABLE)
    handles = [os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for path in places]
    said = {"walls": walls, "raising_s": round(time.monotonic() - began, 5)}
    socket.send_fds(reports, [json.dumps(said).encode()], handles)


def prepare() -> None:
    """Keep the collector from touching, hence copying, pages that runs share with the zygote."""
    gc.collect()
    gc.freeze()
