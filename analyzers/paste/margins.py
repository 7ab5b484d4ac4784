"""What stands left of pasted lines and is no part of them: quotation marks, line numbers, who said
them in a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzers.paste.parsing import is_sentence, statement

LEAST = 3  # lines in a row whose numbers rise by one
_QUOTED = re.compile(r"[ \t]{0,3}>(?!>>)[ \t]?")
_SAID = re.compile(  # `[09:41] mette: `, `09:41 <mette> `
    r"[ \t]{0,4}(?:\[\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp][Mm])?\]|\d{1,2}:\d\d(?::\d\d)?)"
    r"[ \t]{1,4}(?:<[^<>]{1,40}>|[\w@.-]{1,30}(?: [\w@.-]{1,30}){0,2}[ \t]?:)(?:[ \t]|$)"
)
_NUMBERED = re.compile(
    r"[ \t]{0,12}(?:\|[ \t]{0,8})?(?:-{1,12}>|=>|→|>)?[ \t]{0,12}"
    r"(\d{1,6})(?:[ \t]{0,8}[:|)]|(?=\s|$))(.*)"
)


def without_quotes(lines: Sequence[str]) -> list[str]:
    """The lines without `> `, where two or more in a row begin with it; again for quoted quotes."""
    rows = list(lines)
    for _ in range(3):
        quoted = [_QUOTED.match(row) for row in rows]
        for start, end in _runs([match is not None for match in quoted], 2):
            for at in range(start, end):
                match = quoted[at]
                assert match is not None
                rows[at] = rows[at][match.end() :]
    return rows


def without_speakers(lines: Sequence[str]) -> list[str]:
    """The lines of a chat without who said them and when, where two or more begin with that."""
    said = [_SAID.match(line) for line in lines]
    if sum(match is not None for match in said) < 2:
        return list(lines)
    return [line[m.end() :] if m else line for line, m in zip(lines, said, strict=True)]


def numbered(lines: Sequence[str]) -> list[range]:
    """Where lines bear numbers that rise by one: the runs of their indexes."""
    numbers = [int(match[1]) if (match := _NUMBERED.match(line)) else None for line in lines]
    found, start = [], 0
    for at in range(1, len(numbers) + 1):
        before, here = numbers[at - 1], numbers[at] if at < len(numbers) else None
        if before is None or here != before + 1:
            if numbers[start] is not None and at - start >= LEAST:
                found.append(range(start, at))
            start = at
    return found


def _picked(lines: Sequence[str]) -> list[list[int]]:
    """Return runs of statements out of a file: two or more lines in a row (but for empty ones),
    whose numbers rise, and of which each is code behind its number.
    """
    found: list[list[int]] = []
    last = 0
    for at, line in enumerate(lines):
        match = _NUMBERED.match(line)
        node = statement(match[2].strip()) if match is not None and match[2].strip() else None
        if match is None or node is None or is_sentence(node):
            last = last if not line.strip() else 0
            continue
        found += [] if 0 < last < int(match[1]) else [[]]
        found[-1].append(at)
        last = int(match[1])
    return [run for run in found if len(run) > 1]


def without_numbers(lines: Sequence[str], skip: frozenset[int] = frozenset()) -> list[str]:
    """The lines without their numbers, and what they have in common behind those; lines of `skip`
    stay."""
    rows = list(lines)
    whole = [list(run) for run in numbered(lines)]
    among = {at for run in whole for at in run}
    for run in [*whole, *(run for run in _picked(lines) if among.isdisjoint(run))]:
        if not skip.isdisjoint(run):
            continue
        bare = [match[2].rstrip() for at in run if (match := _NUMBERED.match(lines[at]))]
        if all(text.endswith("|") for text in bare if text):  # cells of a table
            bare = [text.removesuffix("|").rstrip() for text in bare]
        common = min((len(text) - len(text.lstrip()) for text in bare if text), default=0)
        for at, text in zip(run, bare, strict=True):
            rows[at] = text[common:]
    return rows


def _runs(marked: Sequence[bool], least: int) -> Iterator[tuple[int, int]]:
    """Where at least so many in a row are marked."""
    start = 0
    for at in range(len(marked) + 1):
        if at == len(marked) or not marked[at]:
            if at - start >= least:
                yield start, at
            start = at + 1
