"""The source with the fix in it, and with numbers in its margin for what happened where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup, escape

from app.pages.diffs import Hunk, Kind
from app.present.highlight import WIDEST, highlight_lines, lines_of
from app.present.story import StoryEvent
from app.schemas import Cause

CONTEXT = 2
"""Lines around a change; around other lines that are spoken of, one."""

WHOLE = 30
"""A file of at most so many lines is shown whole; of a longer one, the marked parts."""


@dataclass(frozen=True, slots=True)
class ListingLine:
    """`number` is the line's own in the source as it was sent; None for a line that a fix adds."""

    number: int | None
    html: Markup
    steps: tuple[StoryEvent, ...] = ()
    kind: Kind = "same"


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that are left out."""

    count: int


@dataclass(frozen=True, slots=True)
class CellHead:
    """The head of a notebook's cell; the lines below it are counted from its first."""

    cell: int


@dataclass(frozen=True, slots=True)
class Listing:
    """`title` is what its reader calls the file."""

    file: str
    rows: tuple[ListingLine | Gap | CellHead, ...]
    title: str = ""

    @property
    def cut(self) -> bool:
        """Whether lines are left out."""
        return any(isinstance(row, Gap) for row in self.rows)


@dataclass(slots=True)
class _Changes:
    """What a fix does to one file: lines that go, and lines that come behind a line."""

    removed: set[int] = field(default_factory=set)
    added: dict[int, list[Markup]] = field(default_factory=dict)

    @property
    def lines(self) -> set[int]:
        return self.removed | set(self.added)


def listings(
    cause: Cause, steps: Sequence[StoryEvent], sources: Mapping[str, str], fix: Iterable[Hunk] = ()
) -> list[Listing]:
    """One listing for each file that the cause speaks of or the fix changes, the one to look at
    first on top. A file whose source is not at hand shows the lines that the cause quotes."""
    hunks = list(fix)
    files = dict.fromkeys(
        [*(h.file for h in hunks), cause.location.file, *(step.file for step in steps)]
    )
    found = []
    for file in files:
        text = sources.get(file)
        lines = _whole(text) if text is not None else _quoted(cause, file)
        changes = _changes([h for h in hunks if h.file == file])
        rows = tuple(_excerpt(lines, [s for s in steps if s.file == file], changes))
        if rows:
            found.append(Listing(file, rows))
    return found


def whole(file: str, text: str, steps: Sequence[StoryEvent]) -> Listing:
    """A file from its first line to its last."""
    lines = _whole(text)
    rows = (
        ListingLine(number, html, tuple(s for s in steps if (s.file, s.line) == (file, number)))
        for number, html in lines.items()
    )
    return Listing(file, tuple(rows))


def in_cells(found: Listing, script: str) -> Listing:
    """A listing of a notebook's script as its cells. The script begins with a cell's marker."""
    lines = lines_of(script)
    mark = lines[0].rstrip("0123456789")
    if mark in ("", lines[0]):  # it could not be converted
        return found
    places: dict[int, tuple[int, int]] = {}
    cell = first = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(mark) and line[len(mark) :].isdecimal():
            cell, first = int(line[len(mark) :]), number
        places[number] = cell, number - first
    title = f"{found.file.removesuffix('.py')}.ipynb"
    return Listing(found.file, tuple(_by_cells(found.rows, places)), title)


def _by_cells(
    rows: Iterable[ListingLine | Gap | CellHead], places: Mapping[int, tuple[int, int]]
) -> Iterator[ListingLine | Gap | CellHead]:
    current = 0
    for row in rows:
        if not isinstance(row, ListingLine) or row.number is None:
            yield row
            continue
        cell, inner = places[row.number]
        if cell != current:
            yield CellHead(cell)
        current = cell
        if inner:  # the cell's head shows the marker itself
            yield replace(row, number=inner)


def head(file: str, text: str) -> Listing:
    """A file's first lines, before anything is known of them."""
    lines = _whole(text)
    rows: list[ListingLine | Gap] = [
        ListingLine(n, html) for n, html in list(lines.items())[:WHOLE]
    ]
    if len(lines) > WHOLE:
        rows.append(Gap(len(lines) - WHOLE))
    return Listing(file, tuple(rows))


def fits(hunks: Sequence[Hunk], sources: Mapping[str, str]) -> bool:
    """Whether hunks speak of the sources' own lines (those of a notebook speak of its cells)."""
    texts = {file: lines_of(sources.get(file, "")) for file in {hunk.file for hunk in hunks}}
    kept = [(hunk.file, row) for hunk in hunks for row in hunk.rows if row.old is not None]
    return bool(hunks) and all(
        row.old is not None
        and row.old <= len(texts[file])
        and row.text.rstrip("\r") == texts[file][row.old - 1]
        for file, row in kept
    )


def _changes(hunks: Iterable[Hunk]) -> _Changes:
    changes = _Changes()
    for hunk in hunks:
        last = next((row.old for row in hunk.rows if row.old), 1) - 1
        for row in hunk.rows:
            if row.old is not None:
                last = row.old
            if row.kind == "removed" and row.old is not None:
                changes.removed.add(row.old)
            if row.kind == "added":
                changes.added.setdefault(last, []).append(row.html)
    return changes


def _whole(text: str) -> dict[int, Markup]:
    return dict(enumerate(highlight_lines(text.rstrip("\n"), WIDEST), start=1))


def _quoted(cause: Cause, file: str) -> dict[int, Markup]:
    spots = (cause.location, cause.created, cause.freed_by, cause.reached_again_by)
    return {
        spot.line: highlight_lines(spot.code, WIDEST)[0]
        for spot in spots
        if spot and spot.file == file and spot.code
    }


def _excerpt(
    lines: Mapping[int, Markup], steps: Sequence[StoryEvent], changes: _Changes
) -> Iterator[ListingLine | Gap]:
    wanted = set(lines)
    if len(lines) > WHOLE:
        near = {step.line + off for step in steps for off in (-1, 0, 1)}
        near |= {line + off for line in changes.lines for off in range(-CONTEXT, CONTEXT + 1)}
        wanted &= near
    last = 0
    yield from _added(changes, 0)
    for number in sorted(wanted):
        if number > last + 1:
            yield Gap(number - last - 1)
        here = tuple(step for step in steps if step.line == number)
        kind: Kind = "removed" if number in changes.removed else "same"
        yield ListingLine(number, lines[number], here, kind)
        yield from _added(changes, number)
        last = number
    if wanted and max(lines) > last:
        yield Gap(max(lines) - last)


def _added(changes: _Changes, number: int) -> Iterator[ListingLine]:
    for html in changes.added.get(number, ()):
        yield ListingLine(None, html, kind="added")


def plain(text: str) -> Markup:
    """A note's words as HTML, with the name it quotes set as code."""
    before, tick, rest = text.partition("`")
    if not tick:
        return escape(before)
    name, _, after = rest.rpartition("`")
    return Markup("{}<code>{}</code>{}").format(before, name, after)
