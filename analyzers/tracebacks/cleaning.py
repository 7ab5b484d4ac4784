"""Takes a pasted text apart into lines, without what terminals, launchers and logs put in."""

from __future__ import annotations

import html
import re

MAX_CHARACTERS = 128 * 1024
MAX_LINE = 2000

_ANSI = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b[@-_]|\x1b\][^\x07\x1b]*\x07?")
# Prefixes of lines: ranks, containers' and loggers' stamps, quotes of forums.
_PREFIXES = re.compile(
    r"\[(?:rank|default|worker|node)\s?\d{1,5}\]:?\s?"
    r"|\((?:pid|[\w.]{1,40} pid)=\d{1,9}(?:, ip=[\d.]{1,40})?\)\s?"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d{1,9}[:,]? [A-Z]{4,8}(?:/[\w.-]{1,60})?\] "
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ ]?"
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[ ]"
    r"|[-|:]?[ ]?\[?(?:ERROR|CRITICAL|WARNING|INFO|DEBUG)\]?[ ]?[-|:]?[ ]"
    r"|(?:stderr|stdout)(?: \|)? "
    r"|\|\s?"
    r"|>[ ]?(?=\S| {2})"
    r"|(?:E|W|I)\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,9} [\w./-]{1,80}:\d{1,6}\] ?"
)
# An exception in a line that Markdown sets in italics or bold.
_EMPHASIS = re.compile(
    r"([_*]{1,3})(?:#{1,6} )?(?=\w{0,60}(?:Error|Exception): )(.{1,1900}?)\1[ \t]*$"
)
_LOGGER = re.compile(r"[-|:][ ]?[\w.]{1,60}[ ]?[-|:][ ]")


def clean_lines(text: str) -> list[str]:
    """Return the text's lines without colours and prefixes.

    Text beyond a fixed size is cut at the front, because the error is at the end.
    """
    text = text[-MAX_CHARACTERS:]
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "&quot;" in text or "&lt;" in text:
        text = html.unescape(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    text = text.replace("“", '"').replace("”", '"')
    return [
        _EMPHASIS.sub(r"\2", _unprefixed(line[:MAX_LINE])).rstrip() for line in text.split("\n")
    ]


def _unprefixed(line: str) -> str:
    """Return the line without its prefixes: a few at most."""
    stripped = line.lstrip()
    if not stripped:
        return ""
    start = len(line) - len(stripped)
    found = False
    for _ in range(4):
        match = _PREFIXES.match(line, start) or (found and _LOGGER.match(line, start)) or None
        if not match or match.end() == start:
            break
        start, found = match.end(), True
    return line[start:] if found else line
