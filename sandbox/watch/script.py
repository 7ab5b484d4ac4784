"""Perform the inner part of a run, the same in every backend: confine the process, then run the
job.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import socket
import sys
import time
import traceback
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NoReturn, Self

from sandbox.walls import landlock, libc, limits, privileges, probe, seccomp
from sandbox.walls.errors import WallError, raising
from sandbox.walls.limits import Limits
from sandbox.walls.places import PROJECT, WRITABLE
from sandbox.watch import pages

RunJob = Callable[[dict[str, Any], int], int]

RECORDS = 3
EXIT_BROKEN = 70


@dataclass(frozen=True)
class Request:
    """The launcher's request for one run."""

    job: dict[str, Any]
    limits: Limits
    probe: bool
    allow_missing: list[str]

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Parse what the launcher sent; it is trusted."""
        asked = json.loads(text)
        return cls(**{**asked, "limits": Limits(**asked["limits"])})


@dataclass(frozen=True)
class Ends:
    """The inner ends of the connections between a run and its watcher."""

    stdout: int
    stderr: int
    records: int
    reports: socket.socket

    def say(self, message: dict[str, Any], handles: tuple[int, ...] = ()) -> None:
        socket.send_fds(self.reports, [json.dumps(message).encode()], handles)

    def refuse(self, error: WallError) -> None:
        self.say({"refused": [error.wall, error.reason]})

    def close(self) -> None:
        for handle in (self.stdout, self.stderr, self.records):
            os.close(handle)
        self.reports.close()


def reap(request: Request, run_job: RunJob, ends: Ends, standing: list[str]) -> int:
    """Fork the script, wait for it and for all orphans meanwhile; report its exit code."""
    began = time.monotonic()
    _hand_out(ends)
    # Nothing within may read or write the memory of this process.
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    script = os.fork()
    if script == 0:
        run_script(request, run_job, ends, standing, began)
    while True:
        pid, status = os.wait()
        if pid == script:
            code = os.waitstatus_to_exitcode(status)
            ends.say({"exit": code})
            return code


def _hand_out(ends: Ends) -> None:
    """Send the watcher the descriptors by which it measures the run.

    Done before any limit is lowered: the kernel counts descriptors in transit for each user, and a
    user's other runs may have as many in transit as a script is allowed to open.
    """
    with raising("memory-watch"):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        places = ("/proc", *WRITABLE)
        handles = [os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) for path in places]
        ends.say({"places": list(places)}, tuple(handles))
    for handle in handles:
        os.close(handle)


def run_script(
    request: Request, run_job: RunJob, ends: Ends, standing: list[str], began: float
) -> NoReturn:
    """Raise the walls of a single process, report them, and run the job.

    `standing` names the walls that are up already; `began` is when raising them began.
    """
    code = EXIT_BROKEN
    try:
        libc.prctl(libc.PR_SET_DUMPABLE, 1)  # its own files in /proc are its own
        _arrange_descriptors(ends)
        walls = standing + _confine(request)
        _write_files(request.job)
        raising_s = round(time.monotonic() - began, 5)
        ends.say({"walls": walls, "raising_s": raising_s, "script": os.getpid()})
        ends.reports.close()
        os.closerange(RECORDS + 1, os.sysconf("SC_OPEN_MAX"))
        code = probe.report(RECORDS) if request.probe else run_job(request.job, RECORDS)
        sys.stdout.flush()
        sys.stderr.flush()
    except WallError as error:
        ends.refuse(error)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code & 255)


def _arrange_descriptors(ends: Ends) -> None:
    """Put /dev/null on descriptor 0 and the streams on 1, 2 and 3."""
    nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    sources = [os.dup(handle) for handle in (nothing, ends.stdout, ends.stderr, ends.records)]
    for target, source in enumerate(sources):
        os.dup2(source, target, inheritable=target < RECORDS)


def _confine(request: Request) -> list[str]:
    """Raise this process's own walls. Return the names of all walls that are up."""
    walls = ["memory-watch", "rlimits", "no-capabilities", "no-new-privs"]
    os.setsid()
    os.makedirs(PROJECT, exist_ok=True)
    os.chdir(PROJECT)
    limits.apply(request.limits)
    privileges.drop_capabilities()
    privileges.forbid_new_privileges()
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
    landlock.apply(WRITABLE)


def _write_files(job: dict[str, Any]) -> None:
    """Write the project to the run's own scratch directory; the walls are up already."""
    contents = {name: text.encode() for name, text in job["files"].items()}
    contents |= {name: b64decode(text) for name, text in job["data"].items()}
    for name, content in contents.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise WallError("files", f"{name!r} is not a path within the project")
        with raising("files"):
            os.makedirs(path.parent, exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)


def prepare() -> None:
    """Keep the collector from touching, hence copying, pages that runs share with the zygote; and
    have fewer of them."""
    gc.collect()
    gc.freeze()
    pages.join()
