"""Enter fresh namespaces, as root or as an ordinary user."""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct

from sandbox.walls import libc
from sandbox.walls.errors import raising
from sandbox.walls.limits import TCP_BUFFERS
from sandbox.walls.privileges import NOBODY

_SET_INTERFACE_FLAGS, _INTERFACE_UP = 0x8914, 0x1
HOSTNAME = "sandbox"


def enter_user_namespace(extra: int = 0) -> None:
    """Become nobody in a new user namespace, with all capabilities there only.

    `extra` are flags of further namespaces to create with it.
    """
    user, group = os.geteuid(), os.getegid()
    with raising("user-namespace"):
        libc.unshare(libc.CLONE_NEWUSER | extra)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{NOBODY} {user} 1")
        _write("/proc/self/gid_map", f"{NOBODY} {group} 1")


def enter(flags: dict[str, int]) -> None:
    """Make each namespace of `flags` (wall name → clone flag) for this process."""
    for wall, flag in flags.items():
        with raising(wall):
            libc.unshare(flag)


def name_host() -> None:
    with raising("uts-namespace"):
        socket.sethostname(HOSTNAME)


def raise_loopback() -> None:
    """Enable the loopback interface, so that processes inside can connect over 127.0.0.1, as
    `torch.distributed` does.
    """
    with raising("no-network"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = array.array("b", struct.pack("16sh14x", b"lo", _INTERFACE_UP))
        fcntl.ioctl(handle, _SET_INTERFACE_FLAGS, request)


def narrow_connections() -> None:
    """Limit the kernel buffers of each TCP connection, which no other limit counts.

    Needs the /proc of this network namespace.
    """
    with raising("no-network"):
        for name, sizes in TCP_BUFFERS.items():
            _write(f"/proc/sys/{name.replace('.', '/')}", sizes)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
