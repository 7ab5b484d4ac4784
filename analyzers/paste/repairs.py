"""What is nearly Python, made into Python: one logical line, which keeps its physical lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from analyzers.paste.parsing import is_sentence, statement
from analyzers.paste.python2 import as_python_3
from analyzers.source import typeset

MAX_REPAIRED = 4000  # characters
_REMARKS = ("//", "<--", "<-", "<==", "-->", "--->", "==>", "←", "→", "<<<")
_WHOLE = re.compile(r"`[^`]+`")
_FENCED = re.compile(r"```\s*(?:import|from)\s[^`]*$")
_DOTS = re.compile(r"\.{4,}")
_LEFT_OUT = re.compile(r"(?:,[ \t]*)?\.\.\.(?=[ \t]*[,)])")  # of a signature


def repaired(text: str) -> str | None:
    """The line as Python, with the fewest changes that make it so; None where none do."""
    if len(text) > MAX_REPAIRED:
        return text if statement(text) is not None else None
    idle = None
    for attempt in _attempts(text):
        node = statement(attempt)
        if node is None or attempt.count("\n") != text.count("\n"):
            continue
        if not is_sentence(node):
            return attempt
        idle = idle or attempt  # `step() // here` is a division, too
    return idle


def _attempts(text: str) -> Iterator[str]:
    yield text
    plain = _DOTS.sub("...", typeset.plain(html.unescape(text)).strip())
    bare = _without_emphasis(plain)
    remarked = _with_comment(bare)
    yield from (plain, bare, remarked, as_python_3(bare), as_python_3(remarked), _with_colon(bare))
    yield _without_dots(bare)


def _without_emphasis(text: str) -> str:
    """Return a line without Markdown's stars around it (`**loss.backward()**`), or the backticks
    around the whole of it, of which one may be on another line, or a fence ahead of an import.
    """
    text = text.replace("**", "")
    whole = text.count("`") == 1 or _WHOLE.fullmatch(text) or _FENCED.match(text)
    return text.strip("`") if whole else text


def _with_comment(text: str) -> str:
    """Remarks that other languages, or arrows, set off: `step()  // here`, `step() <-- fails`."""
    starts = [text.find(mark) for mark in _REMARKS]
    at = min((start for start in starts if start >= 0), default=-1)
    return f"{text[:at]}# {text[at:]}" if at >= 0 and "\n" not in text[at:] else text


def _with_colon(text: str) -> str:
    """A header that lost its colon."""
    word = text.split(None, 1)[0] if text.strip() else ""
    headers = ("for", "while", "if", "with", "def", "class")
    return f"{text}:" if word in headers else text


def _without_dots(text: str) -> str:
    """A signature of which a part was left out: `def __init__(self, n_in, ...):`."""
    return _LEFT_OUT.sub("", text) if text.startswith(("def ", "async def ")) else text
