"""`sys.argv[1]` where no arguments were given: filled in by what the line does with it."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ..core import frames
from ..script import entry
from .arguments import filled_in, value_for
from .asking import awaited, unpacked
from .finding import Report, insists
from .sources import settings, shown

_OF_SETTINGS = ("data.json", "config.yaml", "data.txt")
MOST = 8  # arguments that are synthesized
_COUNTED = re.compile(r"len\(sys\.argv\)\s*(!=|<=|<)\s*(\d{1,2})")
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
    """A script's own name and arguments; missing ones are synthesized on access by number."""

    def __init__(self, given: list[str], report: Report) -> None:
        super().__init__(given)
        self._report = report

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)  # for spawned processes, which have no report

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and len(self) <= key < MOST:
            return self._synthesized(key, _line(frames.user_frame(sys._getframe(1))))
        if isinstance(key, slice) and key.start and key.start > 0:
            asked = awaited(sys._getframe(1)) or 0
            self._fill(min(key.start + asked, MOST), sys._getframe(1))
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        self._fill(min(unpacked(sys._getframe(1)) or 0, MOST), sys._getframe(1))
        return super().__iter__()

    def __len__(self) -> int:
        there, frame = super().__len__(), sys._getframe(1)
        if insists(frame) and (found := _COUNTED.search(_line(frame))):
            wanted = int(found[2]) + (found[1] == "<=")
            self._fill(min(wanted, MOST), frame)
            return max(there, wanted)
        return there

    def _fill(self, count: int, frame: FrameType) -> None:
        """Make up what a line wants of so many; names that it gives them say what they are."""
        line = _line(frame)
        there = super().__len__()
        names = [name.strip() for name in line.partition("=")[0].split(",")]
        for key in range(there, count):
            name = names[key - count] if len(names) >= count - key else ""
            self.append(self._synthesized(key, f"{name} =" if name.isidentifier() else ""))

    def _synthesized(self, key: int, line: str) -> str:
        usual = shown(Path(super().__getitem__(0)).stem)
        value = usual[key - 1] if key <= len(usual) else _by_line(line, key)
        self._report(f"sys.argv[{key}]", filled_in(f"sys.argv[{key}]", value), "argument")
        return value


def _line(frame: FrameType | None) -> str:
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno) if frame else ""


def _by_line(line: str, key: int) -> str:
    """Return the value for an argument that a line reads."""
    for reader, value in _READERS:
        if re.search(rf"{reader}[^()]*sys\.argv", line):
            return (settings() if value in _OF_SETTINGS else None) or value
    name = re.match(r"\s*(\w+)\s*=", line)
    return str(value_for(name[1])) if name else settings() or f"argument{key}"
