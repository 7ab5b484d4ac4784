"""Folders that were not sent: listed, searched, and asked whether they are there."""

from __future__ import annotations

import glob
import os
import sys
from functools import wraps
from typing import Any

from .finding import Report, insists
from .made_up import asked_by_user, is_missing, made_up

IMAGES = 8


def install(report: Report) -> None:
    """Directories that are listed before anybody made them, and whether a file is there, asked by
    who ends the script if it is not."""
    os_: Any = os
    os_.listdir = _listing(os.listdir)
    glob.glob = _globbing(glob.glob)
    paths: Any = os.path
    for name in ("exists", "isfile", "isdir"):
        paths.__dict__[name] = _insisted(getattr(paths, name), name)


def _listing(original: Any) -> Any:
    @wraps(original)
    def listing(path: Any = ".") -> Any:
        if is_missing(path) and asked_by_user():
            made_up(path, "a directory of some images")
            return [f"{n}.png" for n in range(IMAGES)]
        return original(path)

    return listing


def _globbing(original: Any) -> Any:
    @wraps(original)
    def globbing(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(pattern, *args, **kwargs)
        missing = not os.path.exists(os.path.dirname(str(pattern).partition("*")[0]) or ".")
        if found or not missing or "*" not in str(pattern) or not asked_by_user():
            return found
        made_up(pattern, "some files of that name")
        return [_matching(str(pattern), n) for n in range(IMAGES)]

    return globbing


def _matching(pattern: str, number: int) -> str:
    """A path that a pattern fits."""
    return pattern.replace("**/", "").replace("*.*", f"{number}.png").replace("*", str(number))


def _insisted(original: Any, name: str) -> Any:
    @wraps(original)
    def asked(path: Any) -> bool:
        found = bool(original(path))
        if found or not insists(sys._getframe(1)):
            return found
        what = "a directory" if name == "isdir" else "what its reader wants"
        made_up(path, what)
        return True

    return asked
