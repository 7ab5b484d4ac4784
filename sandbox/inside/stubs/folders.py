"""Folders that were not sent: listed, searched, and asked whether they are there."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterator
from functools import cache, wraps
from pathlib import Path
from types import FrameType
from typing import Any

from ..core.frames import USER, owner
from .finding import Report, insists
from .synthesized import asked_by_user, is_missing, report_synthesized

FILES = 64  # so that batches of usual sizes come out of them
_last: list[str] = []
KINDS = 4  # directories, where a pattern has one level of them: as a rule one for each class
MAX_READ = 1 << 18
_SUFFIX = re.compile(r"""["']\*?(\.(?!py\b|zip\b|tar\b|gz\b|log\b|pth?\b)[a-z][a-z0-9]{1,4})["']""")


def install(report: Report) -> None:
    """Hook listings of missing directories, and tests of missing files that end the script."""
    os_: Any = os
    os_.listdir = _listing(os.listdir)
    os_.walk = _walking(os.walk)
    glob.glob = _globbing(glob.glob)
    paths: Any = os.path
    for name in ("exists", "isfile", "isdir"):
        paths.__dict__[name] = _insisted(getattr(paths, name), name)
    path: Any = Path
    for name in ("glob", "rglob"):
        setattr(path, name, _matched(getattr(path, name), "**/" if name == "rglob" else ""))
    for name in ("exists", "is_file", "is_dir"):
        setattr(path, name, _insisted(getattr(path, name), name.replace("_", "")))


def _listing(original: Any) -> Any:
    @wraps(original)
    def listing(path: Any = ".") -> Any:
        if is_missing(path) and asked_by_user():
            report_synthesized(path, "a directory with a few files", folder=path)
            return _names()
        return original(path)

    return listing


def _walking(original: Any) -> Any:
    @wraps(original)
    def walking(top: Any, *args: Any, **kwargs: Any) -> Any:
        if is_missing(top) and asked_by_user():
            report_synthesized(top, "a directory with a few files", folder=top)
            return iter([(str(top), [], _names())])
        return original(top, *args, **kwargs)

    return walking


def _globbing(original: Any) -> Any:
    @wraps(original)
    def globbing(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(pattern, *args, **kwargs)
        missing = not os.path.exists(os.path.dirname(str(pattern).partition("*")[0]) or ".")
        if found or not missing or "*" not in str(pattern) or not asked_by_user():
            return found
        _tell(str(pattern))
        return _matching(str(pattern))

    return globbing


def _matched(original: Any, before: str) -> Any:
    @wraps(original)
    def matched(self: Path, pattern: Any, *args: Any, **kwargs: Any) -> Iterator[Path]:
        if not is_missing(self) or not asked_by_user():
            found: Iterator[Path] = original(self, pattern, *args, **kwargs)
            return found
        wanted = f"{self}/{before}{pattern}"
        _tell(wanted)
        return iter([Path(one) for one in _matching(wanted)])

    return matched


def synthesized_names() -> list[str]:
    """Return the names of the files that were synthesized last, without their folders."""
    return list(_last)


def _matching(pattern: str) -> list[str]:
    """Return paths that match a pattern.

    Its last part names each file, the parts before it a few directories.
    """
    *folders, last = pattern.split("/")
    last = last.replace("*.*", f"*{_suffix()}") if "*" in last else last
    last = f"*{_suffix()}" if last == "*" else last
    several = range(FILES if "*" in last or "?" in last else KINDS)
    _last[:] = [_named(last, n) for n in several]
    return [
        "/".join([*(_named(folder, n % KINDS) for folder in folders), _last[n]]) for n in several
    ]


def _tell(pattern: str) -> None:
    report_synthesized(
        pattern, "a set of files of that name", folder=os.path.dirname(pattern.partition("*")[0])
    )


def _named(part: str, number: int) -> str:
    """Return a name that matches a part of a pattern."""
    part = re.sub(r"\[!?([^\]])[^\]]*\]", r"\1", part)
    return re.sub(r"\*+", str(number), part).replace("?", "0")


def _names() -> list[str]:
    _last[:] = [f"{n}{_suffix()}" for n in range(FILES)]
    return list(_last)


def _suffix() -> str:
    """Return the suffix of the files that the asking script mentions, else that of pictures."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and owner(frame.f_code) != USER:
        frame = frame.f_back
    return _spoken_of(frame.f_code.co_filename) if frame is not None else ".png"


@cache
def _spoken_of(filename: str) -> str:
    try:
        with open(filename, "rb") as file:
            text = file.read(MAX_READ).decode("utf-8", "replace")
    except OSError:
        return ".png"
    found = _SUFFIX.search(text)
    return found[1] if found is not None else ".png"


def _insisted(original: Any, name: str) -> Any:
    @wraps(original)
    def asked(path: Any, *args: Any, **kwargs: Any) -> bool:
        found = bool(original(path, *args, **kwargs))
        if found or not insists(sys._getframe(1)):
            return found
        what = "a directory" if name == "isdir" else "what its reader wants"
        report_synthesized(path, what)
        return True

    return asked
