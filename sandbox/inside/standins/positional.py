"""`sys.argv[1]` where no arguments were given: filled in by what the line does with it."""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

from .. import entry, frames
from .arguments import told, value_for
from .finding import Report

MOST = 8  # arguments that are made up
_READERS: tuple[tuple[str, str], ...] = (  # what the argument is handed to → a value
    (r"int\(", "3"),
    (r"float\(", "0.1"),
    (r"(?:np|numpy)\.load\(", "data.npz"),
    (r"torch\.load\(", "checkpoint.pt"),
    (r"read_csv\(", "data.csv"),
    (r"json\.load|\.json", "data.json"),
    (r"yaml\.", "config.yaml"),
    (r"open\(", "data.txt"),
)


def install(report: Report) -> None:
    """Let the script ask for more arguments than it was given."""
    entry.arguments = lambda given: Arguments(given, report)


class Arguments(list[str]):
    """A script's own name and arguments; what lacks is made up when it is asked for by number."""

    def __init__(self, given: list[str], report: Report) -> None:
        super().__init__(given)
        self._report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)  # for spawned processes, which have no report

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and len(self) <= key < MOST:
            frame = frames.user_frame(sys._getframe(1))
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno) if frame else ""
            value = _by_line(line, key)
            self._report(f"sys.argv[{key}]", told(f"sys.argv[{key}]", value), "argument")
            return value
        return super().__getitem__(key)


def _by_line(line: str, key: int) -> str:
    """The value for an argument that a line reads."""
    for reader, value in _READERS:
        if re.search(rf"{reader}[^()]*sys\.argv", line):
            return value
    name = re.match(r"\s*(\w+)\s*=", line)
    return str(value_for(name[1])) if name else f"argument{key}"
