"""Syntax colours, made on the server: one piece of safe HTML a line."""

from __future__ import annotations

import re
from itertools import groupby

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers.python import PythonLexer

LARGEST = 65536
"""Characters; a longer text is shown without colours, so that no one waits for them."""

LONGEST_LINE = 1000
MOST_BLANKS = 100

WIDEST = 300
"""Characters of a line that a page shows."""

_NEWLINES = re.compile(r"\r\n?")
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def lines_of(text: str) -> list[str]:
    """Return the lines as Python counts them: only `\\n`, `\\r\\n` and `\\r` end a line."""
    return _NEWLINES.sub("\n", text).split("\n")


def highlight_lines(text: str, widest: int | None = None) -> list[Markup]:
    """Return `lines_of(text)` as HTML, one to one, with Pygments' short class names.

    Lines of more than `widest` characters are cut there.
    """
    lines = lines_of(text)
    if widest is not None:
        lines = [line if len(line) <= widest else f"{line[:widest]}…" for line in lines]
    if _is_slow(lines):
        return [escape(line) for line in lines]
    coloured = highlight("\n".join(lines), _lexer(), _FORMATTER).split("\n")
    if len(coloured) < len(lines):
        return [escape(line) for line in lines]
    return [Markup(line) for line in coloured[: len(lines)]]


def _is_slow(lines: list[str]) -> bool:
    """Return True if the lexer would be slow: for much text, long lines or many blank ones."""
    blanks = max(
        (sum(1 for _ in run) for blank, run in groupby(lines, _is_blank) if blank), default=0
    )
    widest = max(map(len, lines), default=0)
    return sum(map(len, lines)) > LARGEST or widest > LONGEST_LINE or blanks > MOST_BLANKS


def _is_blank(line: str) -> bool:
    return not line.strip()


def highlight_block(text: str) -> Markup:
    """Return the whole text as HTML, for the inside of a `<pre><code>`."""
    return Markup("\n").join(highlight_lines(text))


def _lexer() -> Lexer:
    lexer: Lexer = PythonLexer(stripnl=False)
    return lexer
