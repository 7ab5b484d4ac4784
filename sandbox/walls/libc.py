"""Wrap Linux calls that the standard library lacks. All raise `OSError`."""

from __future__ import annotations

import ctypes
import os

from sandbox.walls.numbers import number

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MADV_COLLAPSE = 25

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def syscall(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call the kernel by name; integers go as longs, bytes and buffers as pointers."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number(name)), *words), name)


def prctl(option: int, *arguments: int) -> int:
    words = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *words), f"prctl({option})")


def madvise(start: int, length: int, advice: int) -> None:
    address, size = ctypes.c_void_p(start), ctypes.c_size_t(length)
    _checked(_libc.madvise(address, size, ctypes.c_int(advice)), f"madvise({advice})")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(result, f"mount {source} on {target}")


def unmount(target: str, flags: int = 0) -> None:
    _checked(_libc.umount2(target.encode(), ctypes.c_int(flags)), f"unmount {target}")


def die_with_parent(parent: int, signal: int = 9) -> None:
    """Have the kernel end this process when its parent ends; `parent` is the expected pid.

    The check afterwards covers a parent that has gone already. A change of user or a gain of
    capabilities clears the setting, so call this after those.
    """
    prctl(PR_SET_PDEATHSIG, signal)
    if os.getppid() != parent:
        os._exit(1)
