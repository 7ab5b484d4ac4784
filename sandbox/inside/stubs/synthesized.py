"""What all synthesized files share: who asked for them, and how they are reported."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from ..core.frames import USER, owner
from .finding import Report

_OPENERS = ("codecs", "gzip", "pathlib", "torch.serialization")
_report: Report | None = None
_folders: set[str] = set()


def report_synthesized(name: Any, what: str, *, folder: Any = None) -> None:
    """Report a synthesized file; `folder`: with all that is in it, which is not reported again."""
    if _report is None or not _folders.isdisjoint(map(str, Path(str(name)).parents)):
        return
    if folder is not None:
        _folders.add(str(Path(str(folder))))
    _report(str(name), f"`{name}` was not sent: {what} was synthesized.", "file")


def name_of(file: Any) -> str:
    """Return the name of a file, or of an open one."""
    return str(file if isinstance(file, str | Path) else getattr(file, "name", file))


def install(report: Report) -> None:
    """Set the function that reports synthesized files."""
    global _report
    _report = report


def asked_by_user() -> bool:
    """Return True if the call into this module comes from the script, and not from a library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _passes_on(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame is not None and owner(frame.f_code) == USER


def _passes_on(module: str) -> bool:
    """Return True if a module opens files for those who call it."""
    return module.startswith(str(__package__)) or module in _OPENERS


def is_missing(file: Any) -> bool:
    """Return True if this names a file that is not there."""
    return isinstance(file, str | Path) and not os.path.exists(file)


class SynthesizedText(str):
    """A string read from a synthesized text."""

    __slots__ = ()


class SynthesizedFile(io.StringIO):
    """A synthesized text, which a parser may take for a whole configuration."""

    name = ""

    def read(self, size: int | None = -1) -> str:
        return SynthesizedText(super().read(size))


class SynthesizedBytes(io.BytesIO):
    """Synthesized bytes, which a loader may take for an object."""

    name = ""


def is_synthesized(source: Any) -> bool:
    """Return True if a parser is given something synthesized."""
    return isinstance(source, SynthesizedFile | SynthesizedBytes | SynthesizedText)
