"""What happened to the graph, step by step: the numbers that margin, story and picture share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from analyzers.explain.pattern import patterns
from analyzers.request.causes import OPTIMIZER
from app.present.event_words import NOT_CUT, WORDS, Words
from app.present.guide import guides
from app.schemas import Cause, Event, Location

StepKind = Literal["made", "freed", "carried", "reached", "look"]
CIRCLED = "①②③④⑤⑥⑦⑧⑨"
LONGEST = 60
"""Characters of a line that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class StoryEvent:
    """One thing that happened on a line. `text` is Markdown; `note` is its short form."""

    n: int
    kind: StepKind
    file: str
    line: int
    text: str
    note: str

    @property
    def number(self) -> str:
        return CIRCLED[self.n - 1]


RAISING = frozenset(
    {"graph-reuse", "inplace", "stepped", "no-grad"}
)  # whose words tell of an error


def family_of(cause: Cause) -> str:
    """Return the family by which a cause is described and drawn.

    It is the pattern's own; the largest family if the pattern is unknown, or a backward call has
    freed what another one needed; one without a graph if only a message shows the cause; one
    without an error if the run raised none.
    """
    known = guides().get(cause.pattern)
    freed = cause.freed_by is not None and cause.freed_by.op == "backward"
    if cause.by_message:
        return "message"
    if known is None or (known.shown_as == "no-grad" and freed):
        return "graph-reuse"
    if cause.parameters and known.shown_as in RAISING:
        return "silent"
    return known.shown_as


def notes(cause: Cause) -> Iterator[tuple[Event, str]]:
    """Yield the events of a cause whose lines are known, with what each did in a few words."""
    words = _words(cause, family_of(cause))
    for event, (_, note) in (
        (cause.created, words.made),
        (cause.freed_by, words.freed),
        (cause.reached_again_by, words.reached),
    ):
        if event is not None and event.line > 0:
            yield event, note


def carried(cause: Cause) -> str:
    """Return what the carrier of a cause does, in a few words."""
    return _words(cause, family_of(cause)).carried[1]


def steps(cause: Cause, family: str) -> list[StoryEvent]:
    """Return the events of a cause in the order in which they happened, numbered from 1."""
    words = _words(cause, family)
    events = [
        (kind, spot, *texts)
        for kind, spot, texts in _events(cause, words)
        if spot is not None and spot.line
    ]
    if not any(
        (s.file, s.line) == (cause.location.file, cause.location.line) for _, s, *_ in events
    ):
        events.insert(
            0,
            ("look", cause.location, f"{_line(cause, cause.location)} is where to start.", "start"),
        )
    return [
        StoryEvent(n, kind, spot.file, spot.line, text, note)
        for n, (kind, spot, text, note) in enumerate(events[: len(CIRCLED)], 1)
    ]


def _kind(cause: Cause) -> str:
    """Return the kind of a cause that no event shows: of a traceback alone."""
    return getattr(patterns().get(cause.pattern), "KIND", None) or ""


def _words(cause: Cause, family: str) -> Words:
    """Return the family's phrases; for a missing graph, by what left the value without one."""
    family = family if family in WORDS else "message"
    if family == "graph-reuse" and keeps_graph(cause):
        family = "kept-graph"
    if family == "starved" and holds_others(cause):
        family = "held-others"
    words = WORDS[family]
    op = cause.freed_by.op if cause.freed_by else _kind(cause).replace("-", "_")
    if family != "no-grad" or op not in NOT_CUT:
        return words
    freed, carried, reached = NOT_CUT[op]
    return Words(words.made, (freed, freed), (carried, carried), (reached, reached))


def keeps_graph(cause: Cause) -> bool:
    """Return True if the first backward call keeps its graph, in the script as it was sent."""
    return cause.freed_by is not None and "retain_graph=True" in cause.freed_by.code


def holds_others(cause: Cause) -> bool:
    """Return True if an optimizer was created, at a known line, of other tensors than learn."""
    return cause.created is not None and cause.created.op == OPTIMIZER


def numbers(events: Iterable[StoryEvent]) -> dict[str, str]:
    """Return the circled number of each kind of event."""
    return {step.kind: step.number for step in events}


def _events(
    cause: Cause, words: Words
) -> Iterator[tuple[StepKind, Location | None, tuple[str, str]]]:
    kinds: tuple[tuple[StepKind, Event | None, tuple[str, str]], ...] = (
        ("made", cause.created, words.made),
        ("freed", cause.freed_by, words.freed),
    )
    for kind, event, (text, note) in kinds:
        if event:
            yield kind, event, (f"{_line(cause, event)} {text}.", note + _when(event))
    if cause.carrier and not cause.by_message:
        spot = Location(file=cause.carrier.file, line=cause.carrier.line)
        text, note = words.carried
        name = f"`{_short(cause.carrier.name)}`"
        yield "carried", spot, (f"{name} {text} ({_where(cause, spot)}).", f"{name} {note}")
    if cause.reached_again_by:
        text, note = words.reached
        event = cause.reached_again_by
        yield "reached", event, (f"{_line(cause, event)} {text}.", note + _when(event))


def _where(cause: Cause, spot: Location) -> str:
    """Return a line's number; within its cell if another event identifies that."""
    events = (cause.location, cause.created, cause.freed_by, cause.reached_again_by)
    cells = [other.cell for other in events if other and other.cell and other.line == spot.line]
    return cells[0] if cells else f"line {spot.line}{_of_file(cause, spot)}"


def spans_files(cause: Cause) -> bool:
    """Return True if the events are in several files, so that a line number alone is ambiguous."""
    events = (cause.location, cause.created, cause.freed_by, cause.reached_again_by, cause.carrier)
    return len({spot.file for spot in events if spot is not None}) > 1


def _of_file(cause: Cause, spot: Location) -> str:
    return f" of {spot.file}" if spans_files(cause) else ""


def _line(cause: Cause, spot: Location) -> str:
    """Return a location such as `Line 44, loss.backward(), in iteration 2`."""
    where = f"Line {spot.line}{_of_file(cause, spot)}"
    if spot.cell:
        where = spot.cell[:1].upper() + spot.cell[1:]
    code = spot.code.strip()
    text = f"{where}, `{_short(code)}`," if code and "`" not in code else where
    if isinstance(spot, Event) and spot.iteration and spot.iteration > 1:
        text = f"{text.rstrip(',')}, in iteration {spot.iteration},"
    return text


def _when(event: Event) -> str:
    return f" (iteration {event.iteration})" if event.iteration else ""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
