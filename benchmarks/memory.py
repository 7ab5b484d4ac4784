"""What the service's processes hold and take: memory, shared pages counted once (Pss), and time of
processors."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from tests.processes import children

ROLES = {
    "sandbox.launcher": "sandbox launcher",
    "zygote": "warm parent of the runs",
    "forkserver": "readers",
    "resource_tracker": "readers",
}


def by_role(pid: int) -> dict[str, float]:
    """MiB of a server and everything below it, by what the processes are for."""
    total: Counter[str] = Counter()
    for process in {pid, *children(pid)}:
        role = "web" if process == pid else _role(process)
        total[role] += _pss_kib(process)
    return {role: kib / 1024 for role, kib in total.items()}


def processor_s(pid: int) -> float:
    """Seconds of processors that a server and everything below it have taken so far."""
    return sum(_ticks(process) for process in {pid, *children(pid)}) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _role(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return "gone"
    return next((role for mark, role in ROLES.items() if mark in command), "other")


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
