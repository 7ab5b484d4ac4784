"""Unified diffs between the files of a program and those of a variant of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE = re.compile(r"\+\+\+ (.+)")


class DiffError(ValueError):
    """A diff that does not fit its text; the message names the line."""


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the diff of two sets of files of the same names, with one line of context. Files are
    named in it where there are several."""
    if before.keys() != after.keys():
        raise DiffError(f"files come or go: {sorted(before.keys() ^ after.keys())}")
    return "".join(
        line for name in before for line in _of_file(name, before[name], after[name], len(before))
    )


def patched(before: Mapping[str, str], diff: str) -> dict[str, str]:
    """Return the files with a diff applied, exactly where it says; raise `DiffError` where the
    text there is another."""
    after = dict(before)
    for name, hunks in _by_file(diff.splitlines(keepends=True), next(iter(before))):
        if name not in before:
            raise DiffError(f"there is no file {name}")
        after[name] = "".join(_applied(before[name].splitlines(keepends=True), hunks))
    return after


def _of_file(name: str, before: str, after: str, count: int) -> Iterator[str]:
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    lines = list(difflib.unified_diff(old, new, name, name, n=1, lineterm="\n"))
    yield from lines if count > 1 else lines[2:]


def _by_file(lines: list[str], name: str) -> Iterator[tuple[str, list[_Hunk]]]:
    hunks: list[_Hunk] = []
    while lines:
        if hunk := _HUNK.match(lines[0]):
            size = _size(lines[1:], *(int(n) if n else 1 for n in (hunk[2], hunk[3])))
            hunks.append((int(hunk[1]), lines[1 : size + 1]))
            lines = lines[size + 1 :]
        elif lines[0].startswith("--- ") and len(lines) > 1 and (file := _FILE.match(lines[1])):
            if hunks:
                yield name, hunks
            name, hunks, lines = file[1], [], lines[2:]
        else:
            raise DiffError(f"no part of a diff: {lines[0].rstrip()}")
    yield name, hunks


_Hunk = tuple[int, list[str]]  # the first line, from 1, and its lines with their marks


def _size(lines: Iterable[str], old: int, new: int) -> int:
    """How many lines a hunk has that takes `old` lines and leaves `new`."""
    size = 0
    for line in lines:
        if old <= 0 and new <= 0:
            break
        old, new, size = old - (line[0] != "+"), new - (line[0] != "-"), size + 1
    return size


def _applied(text: list[str], hunks: list[_Hunk]) -> Iterator[str]:
    done = 0
    for first, lines in hunks:
        old = [line[1:] for line in lines if line[0] in " -"]
        start = first - 1 if old else first  # of no lines, a hunk names the line in front
        if text[start : start + len(old)] != old or start < done:
            raise DiffError(f"the diff does not fit at line {first}")
        yield from text[done:start]
        yield from (line[1:] for line in lines if line[0] in " +")
        done = start + len(old)
    yield from text[done:]
