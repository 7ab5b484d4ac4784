"""Where code stands in a pasted text, as far as marks tell: fences, tags, prompts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t>]{0,16}(?:(```+|~~~+)\s*([\w+.-]*)|</?(?:pre|code)>|\[/?code\])")
_NO_CODE = frozenset({"bash", "sh", "shell", "console", "json", "yaml", "yml", "toml", "c"})
_PROMPT = re.compile(r"[ \t]{0,12}(?:>>>(?: |$)|ipdb> ?|\(Pdb\) ?|In ?\[[\d ]{0,6}\]: ?)")
_GOES_ON = re.compile(r"[ \t]{0,12}(?:\.\.\.(?: |$)|\.{3,12}: ?)")
_OUT = re.compile(r"[ \t]{0,12}Out ?\[[\d ]{0,6}\]:")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines `start` to `end` (indexes, the last left out). `marked`: as code."""

    start: int
    end: int
    marked: bool


def regions(lines: Sequence[str]) -> list[Region]:
    """The text's parts within fences and between them; the fences themselves belong to none."""
    found: list[Region] = []
    start, inside, kind = 0, False, ""
    for at, line in enumerate(lines):
        fence = _fence(line)
        if fence is None:
            continue
        if kind not in _NO_CODE:
            found.append(Region(start, at, inside))
        start, inside, kind = at + 1, not inside, "" if inside else fence
    if kind not in _NO_CODE:
        found.append(Region(start, len(lines), inside))
    return found


def _fence(line: str) -> str | None:
    """The language that a fence names, or nothing; None for any other line."""
    match = _FENCE.match(line)
    if match is None or (line.count("```") > 1):
        return None
    rest = line[match.end() :].strip()
    if match.group(1) is None:  # a tag
        return "" if not rest else None
    return (match.group(2) or "").lower() if not rest or rest[0] in "{,:" else None


def without_prompts(lines: Sequence[str]) -> list[str | None]:
    """The lines of a transcript without their prompts, and None for what was printed: what stands
    without a prompt up to the next blank line, all of it where cells have an `Out[3]:`."""
    result: list[str | None] = []
    printed = prompted = False
    for line in lines:
        prompt = _PROMPT.match(line)
        more = _GOES_ON.match(line) if prompted else None
        if prompt or more:
            match = prompt or more
            assert match is not None
            result.append(line[match.end() :])
            prompted, printed = bool(line[match.end() :].strip()) or bool(more), False
        elif _OUT.match(line):
            result.append(None)
            prompted, printed = False, True
        elif not line.strip():
            result.append(line)
            prompted = printed = False
        else:
            printed = printed or prompted
            result.append(None if printed else line)
    return result
