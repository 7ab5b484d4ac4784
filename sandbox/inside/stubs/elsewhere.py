"""Directories that a script wants where a run may not write: they are made under the run's own
root, as if that were the machine's, and found there again."""

from __future__ import annotations

import builtins
import errno
import io
import os
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import torch

from .finding import Report

_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR}
_WRITING = frozenset("wax+")
Change = Callable[[str, str], str]


def root() -> str:
    """Return the substitute for `/`: the run's scratch directory."""
    return "/job" if os.access("/job", os.W_OK) else tempfile.gettempdir()


def install(report: Report) -> None:
    """Extend the functions that make, look for, and open files."""
    base = root()
    make, look = os.makedirs, os.lstat

    def place(path: Any) -> str | None:
        """Return the substitute of a path whose first directory is missing; None for others."""
        if not isinstance(path, str | Path) or not os.path.isabs(path):
            return None
        text = os.path.normpath(path)
        try:
            look(os.path.join(os.sep, text.split(os.sep)[1]))
        except OSError:
            return base + text
        return None

    def made(path: Any) -> str | None:
        """Return the substitute, if its directory exists or can be made."""
        kept = place(path)
        if kept is not None:
            report(
                os.sep + kept.removeprefix(base).split(os.sep)[1], "made in the run's own directory"
            )
            make(os.path.dirname(kept), exist_ok=True)
        return kept

    def known(path: Any) -> str | None:
        """Return the substitute, if something was put there."""
        kept = place(path)
        return kept if kept is not None and os.path.lexists(kept) else None

    for name in ("stat", "listdir", "scandir", "remove", "rmdir", "chdir"):
        _behind(os, name, known)
    _behind(os, "mkdir", made)
    _opening(made, known)
    _saving(made)


def _opening(made: Callable[[Any], str | None], known: Callable[[Any], str | None]) -> None:
    """Open where a file is kept what cannot be opened where it is looked for."""
    opened = builtins.open

    @wraps(opened)
    def opening(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return opened(file, mode, *args, **kwargs)
        except OSError as error:
            writing = _WRITING & set(mode) and os.path.dirname(str(file)) != os.sep
            kept = made(file) if writing else known(file)
            if error.errno not in _REFUSED or kept is None:
                raise
            return opened(kept, mode, *args, **kwargs)

    builtins.open = opening
    setattr(io, "open", opening)  # noqa: B010 (the same function under another name)


def _behind(owner: Any, name: str, other: Callable[[Any], str | None]) -> None:
    """Extend a function: if it refuses a path, call it with the substitute."""
    original = getattr(owner, name)

    @wraps(original)
    def call(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
        try:
            return original(path, *args, **kwargs)
        except OSError as error:
            kept = other(path) if error.errno in _REFUSED else None
            if kept is None:
                raise
            return original(kept, *args, **kwargs)

    setattr(owner, name, call)


def _saving(made: Callable[[Any], str | None]) -> None:
    """Extend `torch.save`, which opens files by itself; missing directories are made."""
    patched: Any = torch
    save = patched.save

    @wraps(save)
    def saving(thing: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, str | Path):
            try:
                os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
            except OSError:
                file = made(file) or file
            else:
                writable = os.access(os.path.dirname(file) or ".", os.W_OK)
                file = file if writable else made(file) or file
        return save(thing, file, *args, **kwargs)

    patched.save = saving
