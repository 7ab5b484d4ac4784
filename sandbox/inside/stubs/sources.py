"""The project's sources, which synthesized values have to fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_WORD = r"(?!-)(?=\S*[./\d])[\w./~:-]*[a-z0-9_](?=[ \t\n\"'`)]|$)"
MAX_SOURCES, MAX_READ, MAX_FILES = 64, 1 << 18, 1024
OF_SETTINGS = frozenset({".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf"})


@cache
def texts() -> tuple[str, ...]:
    """Return the project's files of Python, by their paths."""
    return tuple(_read())


def says(pattern: str) -> bool:
    """Return True if any of them matches this."""
    return any(re.search(pattern, text) for text in texts())


@cache
def settings() -> str | None:
    """Return the one sent file of settings that no script names: an argument names it."""
    sent = [p for p in sorted(Path().rglob("*"))[:MAX_FILES] if p.suffix in OF_SETTINGS]
    unnamed = [str(p) for p in sent if not any(p.name in text for text in texts())]
    return unnamed[0] if len(unnamed) == 1 else None


def shown(script: str) -> list[str]:
    """Return the arguments with which the project's own text runs a script.

    They are those of `python main.py settings/small.json 8` in a docstring, up to an option or a
    placeholder.
    """
    called = rf"python[\d.]*[ \t]+(?:-[mu][ \t]+)?(?:\S*[/.])?{re.escape(script)}(?:\.py)?"
    for text in texts():
        if found := re.search(rf"{called}((?:[ \t]+{_WORD})+)", text):
            return found[1].split()
    return []


def _read() -> Iterator[str]:
    for path in sorted(Path().rglob("*.py"))[:MAX_SOURCES]:
        with path.open("rb") as file:
            yield file.read(MAX_READ).decode("utf-8", "replace")
