"""What is nearly Python, made into Python: one logical line, which keeps its physical lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from analyzers.paste.parsing import is_sentence, statement
from analyzers.source import typeset

MAX_REPAIRED = 4000  # characters
_REMARKS = ("//", "<--", "<-", "<==", "-->", "--->", "==>", "←", "→", "<<<")
_WHOLE = re.compile(r"`[^`]+`")
_FENCED = re.compile(r"```\s*(?:import|from)\s[^`]*$")
_DOTS = re.compile(r"\.{4,}")
_LEFT_OUT = re.compile(r"(?:,[ \t]*)?\.\.\.(?=[ \t]*[,)])")  # of a signature
_PRINT = re.compile(r"((?:.{0,400}[:;])?[ \t]*)print(?![\w(.=])[ \t]*(.*)", re.DOTALL)
_EXCEPT = re.compile(r"except[ \t]+(.+?),[ \t]*(\w+)[ \t]*:(.*)", re.DOTALL)
_RAISE = re.compile(r"(.{0,400}\braise[ \t]+[\w.]+)[ \t]*,[ \t]*(.+)", re.DOTALL)
_EXEC = re.compile(r"exec[ \t]+(?!\()(.+)", re.DOTALL)
_SPELLINGS = (
    (re.compile(r"`([^`\n]{1,400})`"), r"repr(\1)"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"\b0([0-7]{1,20})\b"), r"0o\1"),
    (re.compile(r"\b(\d{1,30})[lL]\b"), r"\1"),
    (re.compile(r"\b[uU][rR](?=[\"'])"), "r"),
    (re.compile(r"\basync(?=[ \t]*=[^=])"), "non_blocking"),  # torch's name for it, as of 3.7
)


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


def as_python_3(text: str) -> str:
    """Return the line in Python 3; the comment at its end stays.

    It translates `print x`, `except E, e:`, `raise E, "why"`, `exec s`, backticks, `<>`, `0777`,
    `cuda(async=True)` and the like.
    """
    code, mark, comment = text.rpartition(" #") if "\n" not in text else (text, "", "")
    code = code or text
    for pattern, spelling in _SPELLINGS:
        code = pattern.sub(spelling, code)
    if match := _PRINT.fullmatch(code):
        code = f"{match.group(1)}{_print(match.group(2).strip())}"
    elif match := _EXCEPT.fullmatch(code):
        code = f"except {match.group(1)} as {match.group(2)}:{match.group(3)}"
    elif match := _RAISE.fullmatch(code):
        code = f"{match.group(1)}({match.group(2).strip()})"
    elif match := _EXEC.fullmatch(code):
        code = f"exec({match.group(1).strip()})"
    return f"{code}{mark}{comment}" if code and mark else code


def _print(printed: str) -> str:
    where, options = "", ""
    if printed.startswith(">>"):
        where, _, printed = printed[2:].partition(",")
        options = f"file={where.strip()}"
    if printed.endswith(","):
        printed = printed[:-1]
        options = f"{options}, end=' '".removeprefix(", ")
    inside = ", ".join(filter(None, (printed.strip(), options)))
    return f"print({inside})"
