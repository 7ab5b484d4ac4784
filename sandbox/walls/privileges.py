"""Drop all capabilities, and every way to regain one."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import struct

from sandbox.walls import libc
from sandbox.walls.errors import raising

NOBODY = 65534
# Where root allows it, each run has a kernel user of its own, as the kernel counts much by user:
# descriptors under way, pipes, watches of files. No system hands out users of this range.
RUN_USERS = range(0x7000_0000, 0x7F00_0000)
_CHANGING_USER = 1 << 6 | 1 << 7  # CAP_SETGID, CAP_SETUID
_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x2008_0522


def become(user: int) -> None:
    """Give up root for an ordinary user and group, without supplementary groups."""
    with raising("no-capabilities"):
        os.setgroups([])
        _change_user(user)


def become_with_a_way_on(user: int) -> None:
    """Call `become`, but keep the capability to change the user once more, unused until then."""
    with raising("no-capabilities"):
        libc.prctl(libc.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        _empty_bounding_set()
        _change_user(user)
        _hold(permitted=_CHANGING_USER)


def become_any() -> None:
    """Become a user that no other run has, if this process may; then drop the capability to change
    users.
    """
    with raising("no-capabilities"):
        user = secrets.choice(RUN_USERS)
        try:
            _hold(permitted=_CHANGING_USER, effective=_CHANGING_USER)
        except PermissionError:  # started by an ordinary user, and so its runs are that user's
            return
        with contextlib.suppress(OSError):  # a container that does not map so many users
            _change_user(user)
        drop_capabilities()


def _change_user(user: int) -> None:
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    # The kernel hides /proc/self from a process that changed user; its own maps are there.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)


def drop_capabilities() -> None:
    """Clear every capability set of this process."""
    with raising("no-capabilities"):
        _empty_bounding_set()
        libc.prctl(libc.PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
        _hold()


def _hold(*, permitted: int = 0, effective: int = 0) -> None:
    """Hold only these capabilities (sets of bits); none is inherited."""
    header = struct.pack("II", _CAPABILITY_VERSION_3, 0)
    sets = struct.pack("IIIIII", effective, permitted, 0, 0, 0, 0)
    libc.syscall("capset", header, ctypes.create_string_buffer(sets, len(sets)))


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
    """Disable setuid programs and file capabilities from now on."""
    with raising("no-new-privs"):
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
