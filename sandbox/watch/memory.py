"""Measure memory, processes and waiting of a run from the /proc of its own pid namespace."""

from __future__ import annotations

import os
from collections.abc import Callable

_PAGE = os.sysconf("SC_PAGE_SIZE")


def processes(proc: int, ours: frozenset[int]) -> list[int]:
    """Return the pids of the run whose /proc is open as `proc`, except those in `ours`."""
    found = [int(name) for name in os.listdir(proc) if name.isdigit()]
    return [process for process in found if process not in ours]


def tasks(proc: int, running: list[int]) -> int:
    """Return how many threads these processes have."""
    return sum(_tasks(proc, process) for process in running)


def sockets(proc: int) -> int:
    """Return how many sockets the run's network namespace holds, including those in transit."""
    said = _read(proc, 1, "net/sockstat").partition("sockets: used ")[2]
    return int(said.partition("\n")[0] or 0)


def waited(proc: int, process: int) -> float:
    """Return the seconds for which the main thread of this process was ready but waited for a
    processor; 0 if the kernel does not count them, or the process has gone.
    """
    fields = _read(proc, process, "schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0


def used(
    proc: int,
    running: list[int],
    scratch: list[int],
    enough: int,
    meanwhile: Callable[[], None] = lambda: None,
) -> int:
    """Return the bytes of memory that these processes use now.

    Resident sizes are cheap but count a page once for each process that shares it; proportional
    sizes are exact and expensive. So the latter are read only when the former reach `enough` bytes.
    Pages of the `scratch` file systems (open directories) count too, mapped or not. `meanwhile` is
    called between processes, because the exact measurement takes long.
    """
    files = sum(_used(directory) for directory in scratch)
    resident = sum(_resident(proc, process) for process in running)
    if resident + files < enough:
        return resident + files
    private, shared = 0, 0
    for process in running:
        proportional, of_files = _proportional(proc, process)
        private += proportional - of_files
        shared += of_files
        meanwhile()
    return private + max(shared, files)


def full(scratch: list[int], inodes: int) -> bool:
    """Return True if one of the scratch file systems has no free block, or `inodes` in use."""
    states = [os.fstatvfs(directory) for directory in scratch]
    return any(
        state.f_bfree == 0 or state.f_files - state.f_ffree >= min(inodes, state.f_files)
        for state in states
    )


def _used(directory: int) -> int:
    state = os.fstatvfs(directory)
    return (state.f_blocks - state.f_bfree) * state.f_frsize


def _read(proc: int, process: int, name: str) -> str:
    """Return the content of a process's file, or an empty string if the process has gone."""
    try:
        handle = os.open(f"{process}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return ""
    try:
        return os.read(handle, 65536).decode("ascii", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def _tasks(proc: int, process: int) -> int:
    after_name = _read(proc, process, "stat").rpartition(")")[2].split()
    return int(after_name[17]) if after_name else 0


def _resident(proc: int, process: int) -> int:
    fields = _read(proc, process, "statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _proportional(proc: int, process: int) -> tuple[int, int]:
    """Return the proportional set size in bytes, and how much of it is shared memory or tmpfs
    files.

    A process may hide it (`PR_SET_DUMPABLE`); it then counts with all that it shares.
    """
    figures = {
        line.split(":")[0]: int(line.split()[1]) * 1024
        for line in _read(proc, process, "smaps_rollup").splitlines()
        if line.startswith(("Pss:", "Pss_Shmem:"))
    }
    if "Pss" not in figures:
        return _resident(proc, process), 0
    return figures["Pss"], figures.get("Pss_Shmem", 0)
