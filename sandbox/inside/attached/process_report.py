"""What a process of the command leaves word of: what it was, its files, and how it ended."""

from __future__ import annotations

import json
import os
import resource
import sys
import sysconfig
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from typing import Any

from ..core import frames
from . import scratch

_NEXT_TO_PYTHON = os.path.dirname(sys.executable)
MOST_FILES, MOST_BYTES = 64, 1 << 20
_WALKS = ("backward", "backprop")
_FAILING = (
    *("backprop", "backward", "gradient", "graph", "freed"),
    *("more than once", "second time", "twice", "again", "already"),
)


class ProcessReport:
    """The word of one process. `settings` of torch's are those that the program changed before it
    imported torch; `engine`: it is an engine of the user's own that ran without torch."""

    def __init__(
        self, box: str, begun: float, settings: Mapping[str, str | None], *, engine: bool = False
    ) -> None:
        self.main = main_file()  # Python takes its name away before the process ends
        self._box = box
        self._pid = os.getpid()
        self._begun = begun
        self._loaded = frozenset(sys.modules)
        self._kind = {"settings": dict(settings), "engine": engine}

    def leave(self, error: BaseException | None, *, given_up: bool = False) -> None:
        """Leave it, in place of what was left before; `given_up`: the program caught the error."""
        report = {
            "pid": self._pid,
            "rank": int(os.environ.get("RANK") or 0),
            "begun": self._begun,
            "seconds": time.time() - self._begun,
            "argv": sys.argv,
            "words": sys.orig_argv,
            "parent": os.getppid(),
            "main": frames.file_name(self.main) if self.main else None,
            "files": _files(self.main),
            "made": scratch.MADE,
            "torch": sorted(n for n in sys.modules.keys() - self._loaded if n[:6] == "torch."),
            "error": type(error).__name__ if error is not None else None,
            "given_up": given_up,
            "cuda": _uses_cuda(),
            "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            **self._kind,
        }
        part = Path(self.path("part"))
        part.write_text(json.dumps(report))
        part.replace(self.path("about"))

    def path(self, kind: str) -> str:
        """Return the path of one of this process's files in the box."""
        return os.path.join(self._box, f"{self._pid}.{kind}")


def leave_for_engine(
    box: str, begun: float, settings: Mapping[str, str | None], *, silent: bool
) -> None:
    """Leave a report of a program that ends without torch, if its own engine's backward failed, or
    if it ends well and has such an engine, where `silent` faults are looked for."""
    error = last_error()
    wanted = silent and _has_engine() if error is None else engine_seen(error)
    if "torch" in sys.modules or not wanted:
        return
    word = ProcessReport(box, begun, settings, engine=True)
    frames.start_in(os.getcwd(), os.path.dirname(word.main or os.getcwd()))
    Path(word.path("jsonl")).touch()
    word.leave(error)


def last_error() -> BaseException | None:
    """Return the exception that ended the program, if one did."""
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def engine_seen(error: BaseException) -> bool:
    """Return True if the error comes from a backward of the user's own, and mentions one or is of
    its arithmetic."""
    mentioned = any(word in str(error).lower() for word in _FAILING)
    if not mentioned and not isinstance(error, ArithmeticError):
        return False
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    own = [code for code in codes if frames.OWNERS[code.co_filename] == frames.USER]
    return any(code.co_name.strip("_").startswith(_WALKS) for code in own)


def _has_engine() -> bool:
    """Return True if the user's modules define a class with a backward of its own."""
    kinds = {
        id(kind): kind
        for module in list(sys.modules.values())
        if frames.OWNERS[getattr(module, "__file__", None) or ""] == frames.USER
        for kind in list(vars(module).values())
        if isinstance(kind, type)
    }
    names = (name for kind in kinds.values() for name in vars(kind))
    return any(name.strip("_").startswith(_WALKS) for name in names)


def main_file() -> str | None:
    """Return the main file if it is the user's program and not an installed command."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or sys.argv[0]
    path = os.path.abspath(main)
    installed = os.path.dirname(path) in (sysconfig.get_path("scripts"), _NEXT_TO_PYTHON)
    own = os.path.isfile(path) and not installed and frames.OWNERS[path] == frames.USER
    return path if own else None


def _files(main: str | None) -> dict[str, str]:
    """Return the user's sources that this process has loaded: name in records → path."""
    found: dict[str, str] = {}
    size = 0
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    for path in dict.fromkeys([main, *loaded]):
        if not isinstance(path, str) or not (path == main or path.endswith(".py")):
            continue  # the main script may have any name
        if frames.OWNERS[path] != frames.USER or not os.path.isfile(path):
            continue
        size += os.path.getsize(path)
        if len(found) < MOST_FILES and size <= MOST_BYTES:
            found[frames.file_name(path)] = os.path.realpath(path)
    return found


def _uses_cuda() -> bool:
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        return bool(torch.cuda.is_initialized())
    return False
