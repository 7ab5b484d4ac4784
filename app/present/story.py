"""What happened to the graph, step by step: the numbers that margin, story and picture share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from analyzers.explain.pattern import patterns
from analyzers.request.causes import OPTIMIZER
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


@dataclass(frozen=True, slots=True)
class _Words:
    """The phrases of a family of faults for its events: created, freed, carried, used again."""

    made: tuple[str, str]
    freed: tuple[str, str]
    carried: tuple[str, str]
    reached: tuple[str, str]


WORDS: dict[str, _Words] = {
    "graph-reuse": _Words(
        made=("builds the graph", "builds the graph"),
        freed=("frees that graph", "frees the graph"),
        carried=("still points to that graph", "keeps it"),
        reached=("needs the freed graph again: the error", "needs it again: error"),
    ),
    "kept-graph": _Words(
        made=("builds the graph", "builds the graph"),
        freed=("goes through the graph, and keeps it", "keeps the graph"),
        carried=("still points to that graph", "keeps it, too"),
        reached=(
            "goes through it again, with weights that were changed since",
            "goes through it again",
        ),
    ),
    "inplace": _Words(
        made=("computes something whose backward will need this value", "needs this value later"),
        freed=("changes the value in place", "changes it in place"),
        carried=("is the value that was changed", "the changed value"),
        reached=("needs the old value, which is gone: the error", "needs the old value: error"),
    ),
    "stepped": _Words(
        made=("computes with weights that its backward will need", "needs these weights later"),
        freed=("changes these weights in place", "changes the weights"),
        carried=("holds the graph with the old weights", "holds the old graph"),
        reached=(
            "needs the old weights, which are gone: the error",
            "needs the old weights: error",
        ),
    ),
    "no-grad": _Words(
        made=("gives the value", "gives the value"),
        freed=("cuts the value from its graph", "cuts the graph"),
        carried=("has no graph behind it", "has no graph"),
        reached=("needs a graph, and there is none: the error", "needs a graph: error"),
    ),
    "graphs": _Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("keeps the graph of every iteration", "keeps every graph"),
        reached=("adds one more graph in every iteration", "one more graph each iteration"),
    ),
    "gradients": _Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("never clears its gradients", "never clears gradients"),
        reached=("uses the sum of all iterations so far", "uses the sum of all iterations"),
    ),
    "cleared": _Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("finds no gradient at its step", "finds no gradient"),
        reached=("gives gradients, which are cleared before the step", "gives gradients"),
    ),
    "unstepped": _Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("never steps", "never steps"),
        reached=("gives gradients, which no step uses", "gives gradients"),
    ),
    "starved": _Words(
        made=("computes the value", "computes it"),
        freed=("is where it is lost", "lost here"),
        carried=("lets no gradient through", "lets no gradient through"),
        reached=("finds no way to these parameters", "finds no way there"),
    ),
    "held-others": _Words(
        made=("makes the optimizer, of the tensors of that time", "takes the tensors of that time"),
        freed=("is where it is lost", "lost here"),
        carried=("gets the gradients, and no optimizer holds it", "is held by no optimizer"),
        reached=("gives its gradients to other tensors", "gives gradients to others"),
    ),
    "overwritten": _Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is the gradient itself, not a copy", "keeps the gradient itself"),
        reached=("adds into that gradient, in place", "changes it in place"),
    ),
    "silent": _Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is the value to look at", "the value"),
        reached=("shows it", "shows it"),
    ),
    "message": _Words(
        made=("makes the value", "makes the value"),
        freed=("is where it is lost", "lost here"),
        carried=("is what the error is about", "is what the error is about"),
        reached=("raises the error", "raises the error"),
    ),
}


RAISING = frozenset(
    {"graph-reuse", "inplace", "stepped", "no-grad"}
)  # whose words tell of an error

NOT_CUT = {
    "nonleaf": ("computes it: no leaf", "is no leaf", "reads a gradient that is not kept"),
    "rebound": ("computes it again: no leaf", "is no leaf any more", "needs a leaf"),
    "non_scalar": ("gives many numbers, not one", "is not one number", "needs one number: error"),
    "numpy": ("gives it a graph", "has a graph", "cannot take a graph: error"),
    "unused": ("makes it; gets no gradient here", "gets no gradient", "finds none of it: error"),
}
"""Where the graph was never cut: what a line does, what the value is, what fails, by operation."""


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


def _words(cause: Cause, family: str) -> _Words:
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
    return _Words(words.made, (freed, freed), (carried, carried), (reached, reached))


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
    cause: Cause, words: _Words
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
