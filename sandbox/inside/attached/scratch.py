"""Files that a repeated run writes go to a folder of its own, and it reads them back from there.

What is reached through Python's own functions is led there; a wall of the kernel's (raised before
the command starts) refuses the rest. So nothing of the user's is written over, ever.
"""

from __future__ import annotations

import builtins
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_open, _osopen, _lstat, _mkdir = io.open, os.open, os.lstat, os.mkdir
_listdir, _scandir = os.listdir, os.scandir
_SUPPORTS = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)
_place: Scratch | None = None
MADE: list[str] = []
"""The folders that this process has made."""
_MOST_MADE = 256


def _exists(path: Any) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


class Scratch:
    """Where the files of this run are. `kept` are folders that are written as they are. What the
    run takes away of the user's files, it sees no more; it may make them again, and also the
    folders that the user's own run `made`. Files that are `gone` it never sees."""

    def __init__(
        self, folder: str, kept: Iterable[str], made: Iterable[str] = (), gone: Iterable[str] = ()
    ) -> None:
        self._folder = os.path.realpath(folder)
        self._gone = {self._folder + path for path in gone}
        self._made = {self._folder + path for path in made}
        self._kept = tuple(os.path.realpath(each) + os.sep for each in kept)

    def of(self, path: Any) -> str | None:
        """Return this run's own path for a file; None for a file that is not redirected."""
        if path is None or isinstance(path, int):
            return None
        try:
            named = os.path.abspath(os.fsdecode(path))
        except TypeError:
            return None
        if named.startswith((*self._kept, self._folder + os.sep, "/dev/", "/proc/")):
            return None
        return self._folder + named

    def read(self, path: Any) -> Any:
        """Return the path to read: the run's own file, if it has written one or taken the user's
        away."""
        mine = self.of(path)
        return mine if mine is not None and (_exists(mine) or self.is_gone(mine)) else path

    def is_gone(self, mine: str) -> bool:
        """Return True if the run took away the user's file, or a folder around it."""
        while self._gone and mine != self._folder:
            if mine in self._gone:
                return True
            mine = os.path.dirname(mine)
        return False

    def may_make(self, path: Any, mine: str) -> bool:
        """Return True if the run may make a folder there: it has not done so yet, and the user has
        none, or only through the run that came first."""
        taken = _exists(path) and not self.is_gone(mine) and mine not in self._made
        return not (taken or _exists(mine))

    def take_away(self, path: Any) -> None:
        """Show the user's file to this run no more; what is not there raises as ever."""
        mine = self.of(path)
        if mine is not None:
            _lstat(mine if self.is_gone(mine) else path)
            self._gone.add(mine)

    def names(self, path: Any, listed: Callable[[Any], list[Any]]) -> list[Any]:
        """Return what `listed` finds in a folder: the run's own files, and the user's behind."""
        mine = self.of(path)
        if mine is None:
            return listed(path)
        gone, own = self.is_gone(mine), os.path.isdir(mine)
        led = os.fsencode(mine) if isinstance(path, bytes) else mine
        found = listed(led) if own or gone else []
        behind = listed(path) if not gone and (not own or _exists(path)) else []
        below = {_name(one): one for one in behind}
        left = {name: one for name, one in below.items() if not self._gone_in(mine, name)}
        return list({**left, **{_name(one): one for one in found}}.values())

    def _gone_in(self, folder: str, name: Any) -> bool:
        return bool(self._gone) and os.path.join(folder, os.fsdecode(name)) in self._gone

    def write(self, path: Any, *, whole: bool = False) -> Any:
        """Return the path to write: a copy of the user's file, unless the `whole` of it is
        written."""
        mine = self.of(path)
        if mine is None or _exists(mine):
            return path if mine is None else mine
        if os.path.isdir(os.path.dirname(os.path.abspath(os.fsdecode(path)))):
            os.makedirs(os.path.dirname(mine), exist_ok=True)
        if not whole and os.path.isfile(path):
            shutil.copy(path, mine)
        return mine


def remember_folders() -> None:
    """Remember the folders that this process makes: repeated runs may make them, too."""

    def mkdir(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        _mkdir(path, mode, dir_fd=dir_fd)
        if dir_fd is None and len(MADE) < _MOST_MADE:
            MADE.append(os.path.abspath(os.fsdecode(path)))

    _replace(os, "mkdir", mkdir)


def install(
    folder: str, kept: Iterable[str], made: Iterable[str], gone: Iterable[str] = ()
) -> None:
    """Redirect this process's writes there, for good."""
    global _place
    _place = place = Scratch(folder, kept, made, gone)

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            return _open(place.write(file, whole="w" in mode), mode, *args, **kwargs)
        return _open(place.read(file), mode, *args, **kwargs)

    def osopened(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if kwargs.get("dir_fd") is not None:
            return _osopen(path, flags, *args, **kwargs)
        led = place.write(path) if flags & _WRITES else place.read(path)
        return _osopen(led, flags, *args, **kwargs)

    _replace(builtins, "open", opened)
    _replace(io, "open", opened)
    _replace(os, "open", osopened)
    for name in ("stat", "lstat", "access", "readlink", "chdir"):
        _lead(os, name, place.read)
    for name in ("chmod", "utime", "truncate"):
        _lead(os, name, place.write)
    _lead_folders(place)
    for where, name in ((os, "remove"), (os, "unlink"), (os, "rmdir"), (shutil, "rmtree")):
        _lead_away(where, name, place)
    for name in ("rename", "replace", "link", "symlink"):
        _lead_two(name, place)


def torch_is_there() -> None:
    """Redirect checkpoints, which C code writes by name, through their path argument."""
    if _place is None:
        return
    place, torch = _place, sys.modules["torch"]
    save = torch.save

    def saved(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        named = isinstance(f, str | os.PathLike)
        save(obj, place.write(f, whole=True) if named else f, *args, **kwargs)

    _replace(torch, "save", saved)


def _replace(where: Any, name: str, by: Any) -> None:
    by.__name__ = by.__qualname__ = name
    for supporting in _SUPPORTS:
        if getattr(where, name) in supporting:
            supporting.add(by)
    setattr(where, name, by)


def _lead_folders(place: Scratch) -> None:
    """List in a folder the user's files and those that the run has made there."""

    def mkdir(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        mine = place.of(path) if dir_fd is None else None
        if mine is not None and not place.may_make(path, mine):
            raise FileExistsError(17, "File exists", path)
        _mkdir(path if mine is None else place.write(path), mode, dir_fd=dir_fd)

    def listdir(path: Any = None) -> Any:
        return place.names(path or ".", _listdir)

    def scandir(path: Any = None) -> Any:
        return Entries(place.names(path or ".", _entries))

    for function in (mkdir, listdir, scandir):
        _replace(os, function.__name__, function)


def _name(one: Any) -> Any:
    return getattr(one, "name", one)


def _entries(path: Any) -> list[Any]:
    with _scandir(path) as found:
        return list(found)


class Entries:
    """What `os.scandir` gives."""

    def __init__(self, found: list[Any]) -> None:
        self._entries = iter(found)

    def __iter__(self) -> Entries:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Entries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no resource is held."""


def _lead(where: Any, name: str, to: Callable[[Any], Any]) -> None:
    """Replace the function's first argument by the path that it is redirected to."""
    function = getattr(where, name)

    def led(*args: Any, **kwargs: Any) -> Any:
        if args and kwargs.get("dir_fd") is None:
            args = (to(args[0]), *args[1:])
        elif "path" in kwargs and kwargs.get("dir_fd") is None:
            kwargs["path"] = to(kwargs["path"])
        return function(*args, **kwargs)

    _replace(where, name, led)


def _lead_away(where: Any, name: str, place: Scratch) -> None:
    """Take away the run's own files; the user's stay, but the run sees them no more."""
    function = getattr(where, name)

    def led(path: Any, *args: Any, **kwargs: Any) -> Any:
        mine = place.of(path) if kwargs.get("dir_fd") is None else None
        if mine is None:
            return function(path, *args, **kwargs)
        own = _exists(mine)
        gone = function(mine, *args, **kwargs) if own else None
        with suppress(FileNotFoundError) if own or kwargs.get("ignore_errors") else nullcontext():
            place.take_away(path)
        return gone

    _replace(where, name, led)


def _lead_two(name: str, place: Scratch) -> None:
    """Redirect both paths to the run's own; what leaves the user's folders is copied."""
    function = getattr(os, name)

    def led(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        if any(kwargs.get(key) is not None for key in ("src_dir_fd", "dst_dir_fd", "dir_fd")):
            return function(src, dst, *args, **kwargs)
        source = src if name == "symlink" else place.write(src)
        target = place.write(dst, whole=True)
        try:
            done = function(source, target, *args, **kwargs)
        except FileNotFoundError:
            raise FileNotFoundError(2, "No such file or directory", src) from None
        if name in ("rename", "replace"):
            with suppress(FileNotFoundError):  # it was the run's own
                place.take_away(src)
        return done

    _replace(os, name, led)
