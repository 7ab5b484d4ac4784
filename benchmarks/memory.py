"""Memory of the service's processes, shared pages counted once (Pss)."""

from __future__ import annotations

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
