"""What a pull request does to the training of each script, as one comment."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.change_schemas import ChangeFindings
from app.present import changes
from app.present.visible import visible

ICONS = {"same": "✅", "truncated": "🟡", "changed": "🟠", "breaks": "🔴", "not_comparable": "⚪"}
LONGEST = 300


@dataclass(frozen=True)
class Reviewed:
    """A script that a pull request touches; without findings it is new."""

    path: str
    found: ChangeFindings | None


def comment_of(reviewed: Sequence[Reviewed], left_out: Sequence[str], base: str) -> str:
    """Return the comment in Markdown. What scripts say in it is plain text."""
    return "\n".join(_lines(reviewed, left_out, base))


def _lines(reviewed: Sequence[Reviewed], left_out: Sequence[str], base: str) -> Iterator[str]:
    yield "### What this change does to the training"
    yield ""
    if not reviewed:
        yield "No training script is touched."
        return
    yield "| script | training | first difference |"
    yield "|---|---|---|"
    for one in reviewed:
        yield _row(one)
    yield ""
    if left_out:
        yield f"Not run: {', '.join(map(_code, left_out))}."
    yield (
        f"Each script was run in a sandbox as it is here and as it is in {_code(base[:12])}, and "
        "compared step by step."
    )


def _row(one: Reviewed) -> str:
    if one.found is None:
        return f"| {_code(one.path)} | new | nothing to compare with |"
    found = one.found
    words = f"{ICONS.get(found.verdict or '', '')} {changes.WORDS[found.verdict]}"
    cell = [_plain(found.summary)]
    if found.witness is not None:
        cell += [f"{side}: {_plain(place)}" for side, place in changes.places(found.witness)]
    cell += [_plain(note) for note in found.notes[:3]]
    return f"| {_code(one.path)} | {words} | {'<br>'.join(cell)} |"


def _code(text: str) -> str:
    return f"<code>{_plain(text)}</code>"


def _plain(text: str) -> str:
    """Return text that neither ends a cell, nor is markup, nor mentions a user."""
    shown = visible(text.replace("\n", " "))
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
    escaped = html.escape(shown, quote=False)
    for mark in "\\`*_|[]#@~":
        escaped = escaped.replace(mark, f"&#{ord(mark)};")
    return escaped
