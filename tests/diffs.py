"""Unified diffs between the files of a program and those of a variant of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from io import StringIO

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

_ADDS_ALONE = re.compile(r"@@ -\d+,0 ")


class DiffError(ValueError):
    """A diff that does not fit its text; the message names the line."""


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the diff of two sets of files of the same names. Files are named in it where there are
    several. It has no context, or one line of it where only that shows what a hunk belongs to."""
    if before.keys() != after.keys():
        raise DiffError(f"files come or go: {sorted(before.keys() ^ after.keys())}")
    if cut := [text for text in (*before.values(), *after.values()) if text[-1:] not in ("", "\n")]:
        raise DiffError(f"no newline at the end: {cut[0][-40:]!r}")
    return "".join(
        line for name in before for line in _of_file(name, before[name], after[name], len(before))
    )


def patched(before: Mapping[str, str], diff: str) -> dict[str, str]:
    """Return the files with a diff applied, exactly where it says; raise `DiffError` where the
    text there is another."""
    only = next(iter(before))
    head = f"--- {only}\n+++ {only}\n" if diff.startswith("@@") else ""
    try:
        parts = PatchSet(head + diff)
    except UnidiffParseError as error:
        raise DiffError(f"no diff: {str(error).strip()}") from None
    if diff and not parts:
        raise DiffError(f"no diff: {diff.splitlines()[0]}")
    after = dict(before)
    for part in parts:
        if part.path not in before:
            raise DiffError(f"there is no file {part.path}")
        after[part.path] = "".join(_applied(_lines(before[part.path]), part))
    return after


def _of_file(name: str, before: str, after: str, count: int) -> Iterator[str]:
    old, new = _lines(before), _lines(after)
    bare, shown = (list(difflib.unified_diff(old, new, name, name, n=n)) for n in (0, 1))
    lines = shown if any(map(_ADDS_ALONE.match, bare)) else bare
    yield from lines if count > 1 else lines[2:]


def _applied(text: list[str], part: PatchedFile) -> Iterator[str]:
    done = 0
    for hunk in part:
        old = [line.value for line in hunk if not line.is_added]
        first = hunk.source_start - bool(old)  # of no lines, a hunk names the line in front
        if first < done or text[first : first + len(old)] != old:
            raise DiffError(f"the diff does not fit at line {hunk.source_start}")
        yield from text[done:first]
        yield from (line.value for line in hunk if not line.is_removed)
        done = first + len(old)
    yield from text[done:]


def _lines(text: str) -> list[str]:
    """The lines as diffs count them: nothing but a newline ends one."""
    return list(StringIO(text))
