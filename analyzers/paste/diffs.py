"""Changes pasted as a diff, read as the version behind them: that is the one which fails. Lines
that somebody only would add are no code yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"[ \t]{0,3}@@ -\d{1,7}(?:,(\d{1,7}))? \+\d{1,7}(?:,(\d{1,7}))? @@")
_FENCED = re.compile(r"[ \t]{0,3}(?:```+|~~~+)[ \t]*diff\b")
_FENCE = re.compile(r"[ \t]{0,3}(?:```+|~~~+)")
ADDED = re.compile(r"[ \t]{0,3}\+[ \t]+[^\W\d]")
_ALL = 1 << 30  # lines, in a fence that says that it holds a diff
_FUNCTION = re.compile(r"(?:async def|def|class) [^#]{1,200}:$")  # that git names for a hunk
_STEP = 4
_HEADS = ("diff --git ", "index ", "--- ", "+++ ", "new file mode ", "similarity index ")


def after_changes(lines: Sequence[str]) -> list[str]:
    """Return the lines with those of diffs as they are after the change. What was removed is blank,
    and so are the headers."""
    rows = list(lines)
    if not any(_HUNK.match(line) or _FENCED.match(line) for line in lines):
        for at in _proposed(lines):
            rows[at] = ""
        return rows
    for at, row in _changed(lines):
        rows[at] = row
    return rows


def _proposed(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of lines between fences that a `+` marks, for somebody would add them."""
    fenced, depth = False, 0
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fenced, depth = not fenced, 0
        elif fenced and depth <= 0 and ADDED.match(line) and not lines[at - 1].endswith("\\"):
            yield at
        else:
            depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))


def _changed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of diffs by their indexes, as they are read. A part may be cut short."""
    old = new = 0
    for at, line in enumerate(lines):
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = (int(count) if count else 1 for count in hunk.groups())
            yield at, _named_by(line[hunk.end() :].strip(), lines[at + 1 : at + 1 + new])
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


def _named_by(words: str, hunk: Sequence[str]) -> str:
    """Return the header of the function around a hunk, indented less than its lines; empty if the
    hunk goes beyond that function, or no header is given in full."""
    code = [line[1:] for line in hunk if line[:1] in ("+", " ") and line[1:].strip()]
    left = min((len(line) - len(line.lstrip()) for line in code), default=0)
    return f"{' ' * (left - _STEP)}{words}" if left and _FUNCTION.match(words) else ""
