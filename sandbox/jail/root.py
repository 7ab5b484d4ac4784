"""Set up the file systems that a jail sees. All mounts are in the caller's mount namespace."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

from sandbox.jail.namespaces import HOSTNAME
from sandbox.walls import libc
from sandbox.walls.errors import raising
from sandbox.walls.limits import Limits
from sandbox.walls.places import WORK, WRITABLE
from sandbox.walls.privileges import NOBODY

# Where the new root may be built: any directory that hides none of the paths to be shown.
_BUILDING_SITES = ("/tmp", "/mnt", "/media", "/srv", "/run", "/opt", "/home")
_STRICT = libc.MS_NOSUID | libc.MS_NODEV
_DEVICES = ("null", "zero", "urandom", "random")
_DETACH = 2
_HERE, _RECURSIVE = -100, 0x8000  # AT_FDCWD, AT_RECURSIVE
_ETC = {
    "passwd": f"runner:x:{NOBODY}:{NOBODY}::/tmp:/bin/false\n",
    "hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost {HOSTNAME}\n",
    # Names are looked up in that file, and nowhere else.
    "nsswitch.conf": "passwd: files\nhosts: files\n",
}


def enter_bare_root(paths: list[str]) -> None:
    """Replace the root of this mount namespace by one that contains only `paths`, read-only.

    Needs the capability to mount; call it in a separate mount namespace.
    """
    with raising("mount-namespace"):
        libc.mount("none", "/", flags=libc.MS_REC | libc.MS_PRIVATE)
        new = _building_site(paths)
        libc.mount("tmpfs", new, "tmpfs", _STRICT, "size=1m,mode=755")
        _furnish(new)
        for path in paths:
            _lay(new, path)
        _pivot(new)


def _building_site(paths: list[str]) -> str:
    for site in _BUILDING_SITES:
        if os.path.isdir(site) and not any(Path(path).is_relative_to(site) for path in paths):
            return site
    raise OSError(errno.ENOENT, "no directory to build the new root in", _BUILDING_SITES)


def _lay(new: str, path: str) -> None:
    """Show `path` in the new root, with the symbolic links on the way to it."""
    resolved = "/"
    parts = [part for part in path.split("/") if part]
    for at, part in enumerate(parts):
        resolved = os.path.join(resolved, part)
        if os.path.islink(resolved):
            target = os.readlink(resolved)
            if not os.path.lexists(new + resolved):
                os.symlink(target, new + resolved)
            rest = os.path.join(os.path.dirname(resolved), target, *parts[at + 1 :])
            return _lay(new, os.path.normpath(rest))
        if at < len(parts) - 1:
            os.makedirs(new + resolved, exist_ok=True)
    return _show(new, path)


def _show(new: str, path: str) -> None:
    target = new + path
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        _touch(target)
    libc.mount(path, target, flags=libc.MS_BIND | libc.MS_REC)
    _make_read_only(target)


def _make_read_only(path: str) -> None:
    """Make `path` and everything mounted below it read-only; other flags stay
    as the host set them.
    """
    attributes = struct.pack("QQQQ", libc.MS_RDONLY | _STRICT, 0, 0, 0)
    name = path.encode() + b"\0"
    libc.syscall("mount_setattr", _HERE, name, _RECURSIVE, attributes, len(attributes))


def _furnish(new: str) -> None:
    # Empty `mnt`: a root within this one is built there when /tmp holds the interpreter.
    for directory in ("tmp", "mnt", "proc", "dev", "dev/shm", "etc", WORK[1:]):
        os.makedirs(os.path.join(new, directory), exist_ok=True)
    for name in _DEVICES:
        _touch(f"{new}/dev/{name}")
        libc.mount(f"/dev/{name}", f"{new}/dev/{name}", flags=libc.MS_BIND)
    for name, text in _ETC.items():
        with open(f"{new}/etc/{name}", "w", encoding="ascii") as file:
            file.write(text)
    libc.mount("proc", f"{new}/proc", "proc", _STRICT | libc.MS_NOEXEC)
    # Imports in the zygote want somewhere to write; runs get places of their own.
    libc.mount("tmpfs", f"{new}/tmp", "tmpfs", _STRICT, "size=16m,mode=1777")


def _pivot(new: str) -> None:
    """Enter the new root; the old one goes on top of it for a moment, and is let go."""
    os.chdir(new)
    libc.syscall("pivot_root", b".", b".")
    libc.unmount(".", _DETACH)
    os.chdir("/")
    flags = libc.MS_REMOUNT | libc.MS_BIND | libc.MS_RDONLY
    libc.mount("none", "/", flags=flags | _STRICT)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def mount_scratch(limits: Limits, paths: list[str]) -> None:
    """Mount fresh empty directories for one run, and the /proc of its own pid namespace.

    Those of `paths` that lie in a scratch directory are shown in the fresh one as well.
    """
    covered = [path for path in paths if any(Path(path).is_relative_to(w) for w in WRITABLE)]
    kept = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in covered}
    with raising("tmpfs"):
        for path in WRITABLE:
            size = limits.shared_mib if path == "/dev/shm" else limits.work_mib
            options = f"size={size}m,nr_inodes={limits.inodes},mode=1777"
            libc.mount("tmpfs", path, "tmpfs", _STRICT, options)
        for path, handle in kept.items():
            os.makedirs(path)
            libc.mount(f"/proc/self/fd/{handle}", path, flags=libc.MS_BIND | libc.MS_REC)
            os.close(handle)
    with raising("pid-namespace"):
        libc.mount("proc", "/proc", "proc", _STRICT | libc.MS_NOEXEC)
