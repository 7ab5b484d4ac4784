"""Python 2's statements as Python 3's, one logical line at a time."""

from __future__ import annotations

import re

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
