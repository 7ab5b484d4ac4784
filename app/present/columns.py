"""Where on its line a cause is: what editors underline."""

from __future__ import annotations

import re

from app.schemas import Cause


def columns_of(cause: Cause, line: str) -> tuple[int, int]:
    """Return the first column and the one past the last, from 1: of the name that carried the
    graph, where the line has it, else of the statement."""
    code = line.rstrip()
    name = cause.carrier.name if cause.carrier is not None else ""
    found = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", code) if name else None
    if found is not None:
        return found.start() + 1, found.end() + 1
    first = len(code) - len(code.lstrip()) + 1
    return first, max(len(code) + 1, first + 1)
