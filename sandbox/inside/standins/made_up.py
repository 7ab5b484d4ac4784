"""What every file that was not sent has in common: who asked for it, and that it is told."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from ..frames import USER, owner
from .finding import Report

_OPENERS = ("codecs", "gzip", "pathlib", "torch.serialization")
_report: Report | None = None
_folders: set[str] = set()


def made_up(name: Any, what: str, *, folder: Any = None) -> None:
    """Tell that a file was made up; `folder`: with all that is in it, which is not told again."""
    if _report is None or not _folders.isdisjoint(map(str, Path(str(name)).parents)):
        return
    if folder is not None:
        _folders.add(str(Path(str(folder))))
    _report(str(name), f"`{name}` was not sent: {what} was made up.", "file")


def name_of(file: Any) -> str:
    """The name of a file, or of an open one."""
    return str(file if isinstance(file, str | Path) else getattr(file, "name", file))


def install(report: Report) -> None:
    """Tell this function of what is made up."""
    global _report
    _report = report


def asked_by_user() -> bool:
    """Whether the call into this module comes from the script, and not from a library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _passes_on(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame is not None and owner(frame.f_code) == USER


def _passes_on(module: str) -> bool:
    """Whether a module opens files for those who call it."""
    return module.startswith(str(__package__)) or module in _OPENERS


def is_missing(file: Any) -> bool:
    """Whether this names a file that is not there."""
    return isinstance(file, str | Path) and not os.path.exists(file)


class MadeUpText(str):
    """What was read of a text that was made up."""

    __slots__ = ()


class MadeUp(io.StringIO):
    """A text that was made up, which a parser may take for a whole configuration."""

    name = ""

    def read(self, size: int | None = -1) -> str:
        return MadeUpText(super().read(size))


class MadeUpBytes(io.BytesIO):
    """Bytes that were made up, which a loader may take for an object."""

    name = ""


def is_made_up(source: Any) -> bool:
    """Whether a parser is given what was made up."""
    return isinstance(source, MadeUp | MadeUpBytes | MadeUpText)
