"""Limit what one process of a run may use; the watch enforces what only a
process tree can exceed.
"""

from __future__ import annotations

import math
import resource
from dataclasses import dataclass
from typing import Any, Self

from sandbox.walls.errors import raising

MIB = 1 << 20
# Least, first and most bytes of a TCP connection's buffers, as `sysctl` names them.
TCP_BUFFERS = {
    "net.ipv4.tcp_rmem": "4096 65536 131072",
    "net.ipv4.tcp_wmem": "4096 65536 131072",
}
# The watcher and the run's init share its user namespace, by which the kernel counts; and a script
# has to be seen beyond its limit before the kernel refuses it another task.
_SPARE_TASKS = 34


@dataclass(frozen=True)
class Limits:
    """What one run may use: seconds, MiB, bytes, counts.

    `tasks_by_user`: the kernel may count tasks by user, because no process outside the run has this
    user.
    """

    time_s: float = 20.0
    memory_mib: int = 2048
    output_bytes: int = 65536
    record_bytes: int = 8 * MIB
    tasks: int = 128
    open_files: int = 256
    sockets: int = 512
    work_mib: int = 64
    shared_mib: int = 256
    inodes: int = 8192
    tasks_by_user: bool = True

    @classmethod
    def of(cls, time_s: float, memory_mib: int, output_bytes: int, **more: Any) -> Self:
        """Return the limits of a job, with the sandbox's defaults for the rest."""
        return cls(time_s=time_s, memory_mib=memory_mib, output_bytes=output_bytes, **more)


def apply(limits: Limits) -> None:
    """Set this process's hard limits. CPU seconds are a second limit in case
    the wall clock fails.
    """
    cpu = math.ceil(limits.time_s) * 2
    with raising("rlimits"):
        _go_first()
        if limits.tasks_by_user:
            _limit(resource.RLIMIT_NPROC, limits.tasks + _SPARE_TASKS)
        _limit(resource.RLIMIT_CPU, cpu)
        _limit(resource.RLIMIT_FSIZE, max(limits.work_mib, limits.shared_mib) * MIB)
        _limit(resource.RLIMIT_NOFILE, limits.open_files)
        _limit(resource.RLIMIT_DATA, _data_size() + 2 * limits.memory_mib * MIB)
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_MEMLOCK, 0)
        _limit(resource.RLIMIT_MSGQUEUE, 0)
        _limit(resource.RLIMIT_RTPRIO, 0)


def _go_first() -> None:
    """Have the kernel kill the script, not the processes that watch it, when memory runs out."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _data_size() -> int:
    """Return the bytes of private data that this process holds before the script starts."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
