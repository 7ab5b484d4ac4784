"""Physical lines joined to logical ones, whatever stands between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_JOINED = 100
MAX_LINE = 4000
_TOKEN = re.compile(
    r"\"\"\"|'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#|[(\[{]|[)\]}]|\\$|[^\"'#()\[\]{}\\]+|."
)


@dataclass(frozen=True, slots=True)
class Logical:
    """`first` and `last` are indexes of physical lines; `indent` is the first one's white space,
    which `text` is without."""

    first: int
    last: int
    indent: str
    text: str


class Lines:
    """Physical lines, each scanned once for what it opens and closes."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._ends = [_scan(line, "") for line in lines]

    def starting_at(self, at: int, end: int) -> list[Logical]:
        """What a logical line that starts here may be, before `end`: the line with those that its
        brackets, string or backslash reach over; the line alone."""
        last = self._reach(at, end)
        joined = [self.joined(at, last)] if last is not None and last > at else []
        return [*joined, self.joined(at, at)]

    def joined(self, first: int, last: int) -> Logical:
        """These lines as one."""
        head = self.lines[first]
        body = head.lstrip(" \t\f")
        text = "\n".join([body, *self.lines[first + 1 : last + 1]])
        return Logical(first, last, head[: len(head) - len(body)], text.rstrip())

    def _reach(self, first: int, end: int) -> int | None:
        """The line in which what the first one opens is closed; None where it never is."""
        depth, quote, goes_on = 0, "", False
        for at in range(first, min(end, first + MAX_JOINED)):
            line = self.lines[at]
            if quote and quote not in line:
                continue
            change, quote, goes_on = _scan(line, quote) if quote else self._ends[at]
            depth += change
            if depth <= 0 and not quote and not goes_on:
                return at
        return None


def _scan(line: str, quote: str) -> tuple[int, str, bool]:
    """Brackets opened less those closed, the triple quote left open, and whether a backslash
    ends the line. `quote`: the triple quote that was open before it."""
    depth, at, goes_on = 0, 0, False
    while at < len(line) <= MAX_LINE:
        if quote:
            close = line.find(quote, at)
            if close < 0:
                return depth, quote, False
            at, quote = close + 3, ""
            continue
        match = _TOKEN.match(line, at)
        assert match is not None
        token, at = match.group(), match.end()
        if token == "#":
            break
        if token in ('"""', "'''"):
            quote = token
        depth += (token in "([{") - (token in ")]}")
        goes_on = token == "\\" and at == len(line)
    return depth, quote, goes_on
