"""What the readers of packages that nobody knows here give for a file that was not sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .any_key_mapping import AnyKeyMapping
from .objects import State
from .sources import OF_SETTINGS
from .synthesized import asked_by_user, is_missing, report_synthesized

RATE = 16_000  # a second, of recordings: what a reader returns with the data
_READS = re.compile(r"read|load|open|^(?:.*file|dataset|image)$", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,5}")


def read(function: str, args: tuple[Any, ...]) -> Any:
    """Return data if the function is a reader by its name, given the name of a missing file.

    Return None for all others.
    """
    file = args[0] if args else None
    if not _READS.search(function) or not is_missing(file) or any(m in args[1:] for m in "wax"):
        return None
    path = Path(str(file))
    if not _SUFFIX.fullmatch(path.suffix) or not asked_by_user():
        return None
    if path.suffix.lower() in OF_SETTINGS:
        report_synthesized(file, "a small text")
        return AnyKeyMapping()
    report_synthesized(file, "noise, in the form that the script asks of it,")
    return State(path.name, second=RATE)
