"""Changes pasted as a diff, read as the version behind them: that is the one which fails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"[ \t]{0,3}@@ -\d{1,7}(?:,(\d{1,7}))? \+\d{1,7}(?:,(\d{1,7}))? @@")
_FENCED = re.compile(r"[ \t]{0,3}(?:```+|~~~+)[ \t]*diff\b")
_ALL = 1 << 30  # lines, in a fence that says that it holds a diff
_HEADS = ("diff --git ", "index ", "--- ", "+++ ", "new file mode ", "similarity index ")


def after_changes(lines: Sequence[str]) -> list[str]:
    """The lines with those of diffs as they stand behind the change: what was taken out, and what
    tells where, is blank."""
    if not any(_HUNK.match(line) or _FENCED.match(line) for line in lines):
        return list(lines)
    rows = list(lines)
    for at, row in _changed(lines):
        rows[at] = row
    return rows


def _changed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of diffs by their indexes, as they are read. A part may be cut short."""
    old = new = 0
    for at, line in enumerate(lines):
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = (int(count) if count else 1 for count in hunk.groups())
            yield at, ""
        elif _FENCED.match(line):
            old = new = _ALL
        elif (old <= 0 and new <= 0) or line.startswith(_HEADS):
            if line.startswith(_HEADS):
                yield at, ""
        elif line[:1] in ("+", " ", "-", ""):
            old -= line[:1] != "+"
            new -= line[:1] != "-"
            yield at, "" if line[:1] == "-" else line[1:]
        else:
            old = new = 0
