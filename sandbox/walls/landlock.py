"""Restrict by Landlock which files a process may reach, even if a mount were exposed by mistake.

The file system is readable, a few directories are writable, and neither signals nor abstract
sockets leave the domain (kernel 6.12). TCP is left to the empty network namespace, in which
loopback is harmless and `torch.distributed` needs it.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from sandbox.walls import libc
from sandbox.walls.errors import WallError, raising

_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_READ_ONLY = _EXECUTE | _READ | _LIST
# Rights known to each version of the interface: 13 at first, then refer, truncate, ioctl_dev.
_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}
_ALL_RIGHTS = 0xFFFF
_SCOPE_ABSTRACT_SOCKET, _SCOPE_SIGNAL = 1, 2
_VERSION_QUERY, _PATH_BENEATH = 1, 1
_DEVICES = {"/dev/null": _READ | _WRITE, "/dev/zero": _READ, "/dev/urandom": _READ}


def version() -> int:
    """Return the version of the kernel's Landlock; 0 if it has none or it is switched off."""
    try:
        return libc.syscall("landlock_create_ruleset", None, 0, _VERSION_QUERY)
    except OSError:
        return 0


def apply(writable: Iterable[str]) -> None:
    """Confine this process: everything readable, only `writable` directories writable.

    Needs no_new_privs.
    """
    abi = version()
    if abi < 1:
        raise WallError("landlock", "the kernel has no Landlock, or it is switched off")
    rights = _RIGHTS.get(abi, _ALL_RIGHTS)
    with raising("landlock"):
        ruleset = _ruleset(abi, rights)
        _allow(ruleset, "/", _READ_ONLY)
        for path in writable:
            _allow(ruleset, path, rights)
        for path, access in _DEVICES.items():
            _allow(ruleset, path, access)
        libc.syscall("landlock_restrict_self", ruleset, 0)
        os.close(ruleset)


def _ruleset(abi: int, rights: int) -> int:
    scopes = _SCOPE_ABSTRACT_SOCKET | _SCOPE_SIGNAL if abi >= 6 else 0
    attributes = struct.pack("QQQ", rights, 0, scopes)
    known = attributes[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    return libc.syscall("landlock_create_ruleset", known, len(known), 0)


def _allow(ruleset: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = ctypes.create_string_buffer(struct.pack("=Qi", access, place))
    try:
        libc.syscall("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)
