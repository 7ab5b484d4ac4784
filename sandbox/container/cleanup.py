"""Remove what a run left in its container, before the next run of its session."""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import time
from dataclasses import dataclass
from typing import Self

from sandbox.walls.places import WRITABLE

_DYING_S = 5.0
_RLIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class ContainerState:
    """A container as it is when nothing has run in it, seen by its pid 1.

    Scripts have the user of pid 1, so they may change how the kernel treats it: `treatment` is
    that. `free` has the free blocks and inodes of each scratch directory.
    """

    treatment: tuple[object, ...]
    free: dict[str, tuple[int, int]]

    @classmethod
    def emptied(cls) -> Self:
        """Empty the scratch directories and return the state to restore later."""
        for path in WRITABLE:
            empty(path)
        return cls(_treatment(), _free())

    def restored(self) -> str | None:
        """Remove what a run left. Return what still differs from before, or None.

        To be called by pid 1 once all processes of the run have been killed.
        """
        if not _buried():
            return "a process would not end"
        try:
            for path in WRITABLE:
                empty(path)
        except OSError as error:
            return f"a file would not go: {error}"
        if _free() != self.free:
            return "a scratch directory is not empty"
        if _connections():
            return "the kernel remembers connections"
        if _treatment() != self.treatment:
            return "limits of pid 1 were changed"
        return None


def _buried() -> bool:
    """Reap every process. Return False if one is still there after a while."""
    until = time.monotonic() + _DYING_S
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.001)
        return False
    return [name for name in os.listdir("/proc") if name.isdigit()] == [str(os.getpid())]


def empty(path: str) -> None:
    """Remove everything below a directory, however deep, narrow or closed its tree is.

    No process may be changing it meanwhile. Directories are first lifted to the top, so that
    neither paths nor recursion nor open descriptors grow with the depth. Raises `OSError`.
    """
    top = os.open(path, _DIRECTORY)
    try:
        while names := os.listdir(top):
            for name in names:
                _remove(top, name)
    finally:
        os.close(top)


def _remove(top: int, name: str) -> None:
    """Remove an entry of the directory `top`; the contents of a directory are moved to `top`."""
    try:
        os.unlink(name, dir_fd=top)
    except IsADirectoryError:
        os.chmod(name, 0o700, dir_fd=top)
        directory = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            for inner in os.listdir(directory):
                _lift(directory, inner, top)
        finally:
            os.close(directory)
        os.rmdir(name, dir_fd=top)


def _lift(directory: int, name: str, top: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        os.chmod(name, 0o700, dir_fd=directory)  # moving a directory changes its `..`
        os.rename(name, secrets.token_hex(16), src_dir_fd=directory, dst_dir_fd=top)


def _free() -> dict[str, tuple[int, int]]:
    states = {path: os.statvfs(path) for path in WRITABLE}
    return {path: (state.f_bfree, state.f_ffree) for path, state in states.items()}


def _connections() -> bool:
    """Return True if TCP still has a connection: for a minute no other process can use its port."""
    tables = [f"/proc/self/net/{name}" for name in ("tcp", "tcp6")]
    return any(_lines(table) > 1 for table in tables if os.path.exists(table))


def _lines(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return sum(1 for _ in file)


def _treatment() -> tuple[object, ...]:
    """Return what any process of this user may set for this one, and what
    each fork of it inherits.
    """
    return (
        [resource.getrlimit(kind) for kind in _RLIMITS],
        os.sched_getaffinity(0),
        os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0),
    )
