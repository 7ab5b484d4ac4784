"""What a picture of graph lifetimes shows, before anyone draws it.

A scene is a stack of lanes. One lane holds the origin: the node that the carrier stands for. In the
lanes below, walks enter its graph through the carrier, or the carrier's value is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.highlight import lines_of
from app.schemas import Cause, Event
from app.story import numbers, steps

Walk = Literal["none", "frees", "fails", "changes", "clean"]


@dataclass(frozen=True, slots=True)
class Lane:
    """One pass: `origin` holds the carrier's node, `forward` has a graph of its own."""

    title: str
    origin: bool = False
    forward: bool = True
    walk: Walk = "none"
    origin_text: str = ""
    walk_text: str = ""
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    title: str
    description: str
    lanes: tuple[Lane, ...]
    carrier: str = ""


def scene_of(cause: Cause, family: str, sources: Mapping[str, str]) -> Scene | None:
    """The scene of a cause; None where too little is known for a true picture."""
    if not cause.reached_again_by or not (cause.created or cause.freed_by):
        return None
    quote = _Quote(sources)
    if family == "inplace":
        return _changed(cause, quote)
    return _reused(cause, quote) if cause.freed_by else None


def healthy_scene(calls: int) -> Scene | None:
    """The first backward calls of a run that ended clean; None where there was no call."""
    if calls < 1:
        return None
    shown = ("1st backward", "2nd backward", "3rd backward")[:calls]
    lanes = [Lane(title, walk="clean", walk_text="no error") for title in shown]
    if calls > len(shown):
        lanes[-1] = Lane(f"backward {calls}", walk="clean", walk_text="no error", skipped=calls - 3)
    counted = f"{calls} backward calls were" if calls > 1 else "One backward call was"
    text = f"{counted} followed; none met a graph that had been freed or changed."
    return Scene("Every backward ran without an error", text, tuple(lanes))


class _Quote:
    """Quotes lines from the request's sources where an event does not bring its own text."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._lines = {file: lines_of(text) for file, text in sources.items()}

    def __call__(self, event: Event) -> str:
        code = event.code.strip()
        lines = self._lines.get(event.file, [])
        if not code and 0 < event.line <= len(lines):
            code = lines[event.line - 1].strip()
        return f"line {event.line}  {code}".rstrip()


def _reused(cause: Cause, quote: _Quote) -> Scene:
    freed, reached = cause.freed_by, cause.reached_again_by
    assert freed is not None
    assert reached is not None
    n = _numbers(cause, "graph-reuse")
    made = f"{n('made')}builds the graph: {quote(cause.created)}" if cause.created else ""
    frees = f"{n('freed')}frees it: {quote(freed)}"
    fails = f"{n('reached')}needs it again: {quote(reached)}"
    first, second = _walk_titles(cause, freed, reached)
    name = f"{n('carried')}{cause.carrier.name}" if cause.carrier else ""
    lanes = []
    if _made_in_first_walk(cause, freed, reached):
        lanes.append(Lane(first, True, True, "frees", made, frees))
    else:
        lanes.append(Lane(_before(freed, reached), True, False, "none", made))
        lanes.append(Lane(first, walk="frees", walk_text=frees))
    skipped = max(0, (reached.iteration or 0) - (freed.iteration or 0) - 1)
    lanes.append(Lane(second, walk="fails", walk_text=fails, skipped=skipped))
    held = f" through {cause.carrier.name}" if cause.carrier else ""
    where = quote(cause.created) if cause.created else "line unknown"
    description = (
        f"The graph built in {lanes[0].title} ({where}) is freed by the backward at "
        f"{quote(freed)}. The backward at {quote(reached)} in {second} needs it again{held}, "
        "and fails."
    )
    return Scene("A freed graph is needed again", description, tuple(lanes), name)


def _changed(cause: Cause, quote: _Quote) -> Scene:
    reached, change = cause.reached_again_by, cause.freed_by
    assert reached is not None
    n = _numbers(cause, "inplace")
    saved = f"{n('made')}saves the value: {quote(cause.created)}" if cause.created else ""
    name = cause.carrier.name if cause.carrier else ""
    needed = f"{n('reached')}needs the old value: {quote(reached)}"
    lanes = [Lane("one graph", True, True, "fails", saved, needed)]
    if change:
        text = f"{n('freed')}changed in place: {quote(change)}"
        lanes.append(Lane("meanwhile", forward=False, walk="changes", walk_text=text))
    where = quote(cause.created) if cause.created else "line unknown"
    description = (
        f"The forward pass saved {name or 'a value'} ({where}). "
        + (f"It was changed in place at {quote(change)}. " if change else "")
        + f"The backward at {quote(reached)} needs the old value and fails."
    )
    title = "A saved value is changed before it is needed"
    carrier = f"{n('carried')}{name}" if name else ""
    return Scene(title, description, tuple(lanes), carrier)


def _numbers(cause: Cause, family: str) -> Callable[[str], str]:
    """The story's number of a kind of event, to stand in front of its text."""
    known = numbers(steps(cause, family))
    return lambda kind: f"{known[kind]} " if kind in known else ""


def _made_in_first_walk(cause: Cause, freed: Event, reached: Event) -> bool:
    """Whether the pass that frees the graph is also the one that made it."""
    made = cause.created.iteration if cause.created else freed.iteration
    return freed.iteration is not None and made == freed.iteration != reached.iteration


def _walk_titles(cause: Cause, freed: Event, reached: Event) -> tuple[str, str]:
    if freed.iteration and reached.iteration and freed.iteration != reached.iteration:
        unit = {"epoch": "epoch", "call": "call", "cell": "run"}.get(
            cause.boundary.kind if cause.boundary else "loop", "iteration"
        )
        return f"{unit} {freed.iteration}", f"{unit} {reached.iteration}"
    return "1st backward", "2nd backward"


def _before(freed: Event, reached: Event) -> str:
    return "forward" if freed.iteration == reached.iteration else "made before"
