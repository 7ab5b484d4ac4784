"""What the files of the project say, where a value that was made up has to fit them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MAX_SOURCES, MAX_READ = 64, 1 << 18


@cache
def texts() -> tuple[str, ...]:
    """The project's files of Python, by their paths."""
    return tuple(_read())


def says(pattern: str) -> bool:
    """Whether any of them holds this."""
    return any(re.search(pattern, text) for text in texts())


def _read() -> Iterator[str]:
    for path in sorted(Path().rglob("*.py"))[:MAX_SOURCES]:
        with path.open("rb") as file:
            yield file.read(MAX_READ).decode("utf-8", "replace")
