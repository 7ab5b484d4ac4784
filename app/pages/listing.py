"""The source with notes in its margin: what was made, freed, reached again and carried where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from app.highlight import WIDEST, highlight_lines
from app.schemas import Cause, Event

MarkKind = Literal["look", "made", "freed", "reached", "carried", "boundary"]
CONTEXT = 3
WHOLE = 30
"""A file of at most so many lines is shown whole; of a longer one, the marked parts."""


@dataclass(frozen=True, slots=True)
class Mark:
    file: str
    line: int
    kind: MarkKind
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    html: Markup
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that are left out; `count` is how many, 0 where that is unknown."""

    count: int


@dataclass(frozen=True, slots=True)
class Listing:
    file: str
    rows: tuple[Line | Gap, ...]


def marks_of(cause: Cause, family: str = "graph-reuse") -> list[Mark]:
    """Everything a cause says about lines, in the order in which it happened."""
    made, freed, reached = EVENTS.get(family, EVENTS["graph-reuse"])
    marks: list[Mark] = []
    if cause.boundary and cause.boundary.line:
        where = _BOUNDARIES[cause.boundary.kind]
        marks.append(Mark(cause.boundary.file, cause.boundary.line, "boundary", where))
    if cause.created:
        marks.append(_event(cause.created, "made", made))
    if cause.freed_by:
        marks.append(_event(cause.freed_by, "freed", freed))
    if cause.carrier:
        text = f"carried by `{cause.carrier.name}`"
        marks.append(Mark(cause.carrier.file, cause.carrier.line, "carried", text))
    if cause.reached_again_by:
        marks.append(_event(cause.reached_again_by, "reached", reached))
    if not any((m.file, m.line) == (cause.location.file, cause.location.line) for m in marks):
        marks.append(Mark(cause.location.file, cause.location.line, "look", "look here first"))
    return marks


EVENTS: dict[str, tuple[str, str, str]] = {
    "graph-reuse": ("made here", "freed here", "reached again here"),
    "inplace": ("saved here", "changed here", "needed again here"),
    "no-grad": ("the graph ends here", "lost here", "needed here"),
}
_BOUNDARIES = {
    "loop": "the loop it crossed",
    "epoch": "the epoch it crossed",
    "call": "the call it crossed",
    "cell": "the cell it crossed",
    "none": "between",
}


def _event(event: Event, kind: MarkKind, text: str) -> Mark:
    when = f", iteration {event.iteration}" if event.iteration else ""
    return Mark(event.file, event.line, kind, text + when)


def listings(
    cause: Cause, sources: Mapping[str, str], family: str = "graph-reuse"
) -> list[Listing]:
    """One listing for each file that a cause speaks of, the one to look at first on top.

    A file whose source is not at hand (only a traceback was given) shows the lines it quoted.
    """
    marks = marks_of(cause, family)
    files = dict.fromkeys([cause.location.file, *(mark.file for mark in marks)])
    found = []
    for file in files:
        here = [mark for mark in marks if mark.file == file]
        text = sources.get(file)
        lines = _whole(text) if text is not None else _quoted(cause, file)
        rows = tuple(_excerpt(lines, here))
        if rows:
            found.append(Listing(file, rows))
    return found


def _whole(text: str) -> dict[int, Markup]:
    return dict(enumerate(highlight_lines(text.rstrip("\n"), WIDEST), start=1))


def _quoted(cause: Cause, file: str) -> dict[int, Markup]:
    spots = (cause.location, cause.created, cause.freed_by, cause.reached_again_by)
    return {
        spot.line: highlight_lines(spot.code, WIDEST)[0]
        for spot in spots
        if spot and spot.file == file and spot.code
    }


def _excerpt(lines: dict[int, Markup], marks: list[Mark]) -> Iterator[Line | Gap]:
    wanted = set(lines)
    if len(lines) > WHOLE:
        near = {mark.line + off for mark in marks for off in range(-CONTEXT, CONTEXT + 1)}
        wanted &= near
    last = 0
    for number in sorted(wanted):
        if number > last + 1:
            yield Gap(number - last - 1)
        yield Line(number, lines[number], tuple(m for m in marks if m.line == number))
        last = number
    if wanted and max(lines) > last:
        yield Gap(max(lines) - last)


def plain(mark: Mark) -> Markup:
    """A mark's words as HTML, with the name it quotes set as code."""
    before, tick, rest = mark.text.partition("`")
    if not tick:
        return escape(before)
    name, _, after = rest.rpartition("`")
    return Markup("{}<code>{}</code>{}").format(before, name, after)
