"""Probe the walls from inside: report for each what a run can see."""

from __future__ import annotations

import errno
import json
import os
import platform
import resource
import socket
import time
from collections.abc import Callable, Iterable
from importlib import metadata

from sandbox.walls import libc

_SECCOMP_FILTER = "2"
_LONG_ENOUGH_TO_BE_MEASURED_S = 0.1


def report(handle: int) -> int:
    """Write `{wall: ""}`, or `{wall: what is wrong}`, as one line, with the `environment` of the
    runs. Return an exit code.
    """
    looks = {"walls": look(_LOOKS), "environment": environment()}
    os.write(handle, json.dumps(looks).encode() + b"\n")
    time.sleep(_LONG_ENOUGH_TO_BE_MEASURED_S)
    return 0


def environment() -> dict[str, str]:
    """Return the versions that runs have here: `torch` (empty: not installed), `python`,
    `platform`."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError:
        torch = ""
    system = os.uname()
    machine = f"{system.sysname} {system.machine}"
    return {"torch": torch, "python": platform.python_version(), "platform": machine}


def look(walls: Iterable[str]) -> dict[str, str]:
    """Return what is wrong with each of these walls; an empty string if it holds."""
    findings: dict[str, str] = {}
    for wall in walls:
        try:
            findings[wall] = _LOOKS[wall]()
        except OSError as error:
            findings[wall] = f"could not be looked at: {error}"
    return findings


def _status(name: str) -> str:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        fields = dict(line.rstrip("\n").partition(":")[::2] for line in file)
    return fields[name].strip()


def _user_namespace() -> str:
    with open("/proc/self/uid_map", encoding="ascii") as file:
        mapped = file.read().split()
    return "" if len(mapped) == 3 and mapped[2] == "1" else f"users mapped: {mapped}"


def _pid_namespace() -> str:
    alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    others = alive - {1, os.getppid(), os.getpid()}
    return "" if not others else f"processes seen: {sorted(others)}"


def _mounts() -> dict[str, list[str]]:
    """Return source, point, kind and flags of the last mount at each mount point."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        return {fields[1]: fields for fields in map(str.split, file)}


def _mount_namespace() -> str:
    _, _, kind, flags, *_ = _mounts()["/"]
    if kind != "tmpfs":
        return f"the root is {kind}, not one of its own"
    return "" if "ro" in flags.split(",") else "the root can be written"


def _read_only_root() -> str:
    return "" if os.statvfs("/").f_flag & os.ST_RDONLY else "the root can be written"


def _pids_limit() -> str:
    """Return the engine's limit as the control group's file shows it, if it is visible."""
    for path in ("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"):
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                return "" if file.read().strip() != "max" else "any number of processes"
    return "the control group does not tell its limit"


def _no_network() -> str:
    with open("/proc/self/net/dev", encoding="ascii") as file:
        interfaces = [line.partition(":")[0].strip() for line in file if ":" in line]
    if interfaces != ["lo"]:
        return f"interfaces: {interfaces}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation, RFC 5737
        except OSError as error:
            return "" if error.errno == errno.ENETUNREACH else str(error)
    return "there is a route to the outside"


def _no_new_privs() -> str:
    return "" if _status("NoNewPrivs") == "1" else "setuid programs would work"


def _no_capabilities() -> str:
    held = [name for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb") if int(_status(name), 16)]
    return "" if not held else f"capabilities left in {held}"


def _seccomp() -> str:
    if _status("Seccomp") != _SECCOMP_FILTER:
        return "no filter is on"
    try:
        libc.unshare(libc.CLONE_NEWUSER)
    except OSError as error:
        return "" if error.errno == errno.EPERM else str(error)
    return "a new namespace could be made"


def _landlock() -> str:
    """Check that Landlock forbids writing to this file, which the kernel alone would allow."""
    try:
        with open("/proc/self/comm", "w", encoding="ascii"):
            return "a file outside the writable directories could be opened for writing"
    except PermissionError:
        return ""


def _rlimits() -> str:
    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA)
    open_ = [kind for kind in kinds if resource.getrlimit(kind)[1] == resource.RLIM_INFINITY]
    return "" if not open_ else f"without limit: {open_}"


def _tmpfs() -> str:
    mounts = _mounts()
    other = [path for path in ("/tmp", "/dev/shm") if mounts[path][2] != "tmpfs"]
    return "" if not other else f"not tmpfs: {other}"


_LOOKS: dict[str, Callable[[], str]] = {
    "user-namespace": _user_namespace,
    "pid-namespace": _pid_namespace,
    "mount-namespace": _mount_namespace,
    "read-only-root": _read_only_root,
    "pids-limit": _pids_limit,
    "no-network": _no_network,
    "no-new-privs": _no_new_privs,
    "no-capabilities": _no_capabilities,
    "seccomp": _seccomp,
    "landlock": _landlock,
    "rlimits": _rlimits,
    "tmpfs": _tmpfs,
}
