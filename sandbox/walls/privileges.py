"""No capabilities, no way to regain any."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from sandbox.walls import libc
from sandbox.walls.errors import raising

NOBODY = 65534
_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x2008_0522


def become(user: int) -> None:
    """Give up root for an ordinary user and group, without supplementary groups."""
    with raising("no-capabilities"):
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        # The kernel hides /proc/self from a process that changed user; its own maps are there.
        libc.prctl(libc.PR_SET_DUMPABLE, 1)


def drop_capabilities() -> None:
    """Empty every capability set of this process."""
    with raising("no-capabilities"):
        _empty_bounding_set()
        libc.prctl(libc.PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
        header = struct.pack("II", _CAPABILITY_VERSION_3, 0)
        libc.syscall("capset", header, ctypes.create_string_buffer(24))


def _empty_bounding_set() -> None:
    for capability in range(64):
        try:
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:  # past the last one this kernel knows
                return
            if error.errno == errno.EPERM:  # none held, so none to give up
                return
            raise


def forbid_new_privileges() -> None:
    """From now on setuid programs and file capabilities change nothing."""
    with raising("no-new-privs"):
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
