"""A cause's events, as a picture shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from app.present.event_words import NOT_CUT
from app.present.highlight import lines_of
from app.present.scene_parts import Mark, SceneNode
from app.present.story import numbers, spans_files, steps
from app.schemas import Cause, Event, Location


class CauseFacts:
    """A cause's events as nodes, numbered as in its story, with lines quoted from the sources."""

    def __init__(self, cause: Cause, family: str, sources: Mapping[str, str]) -> None:
        self.cause = cause
        self.family = family
        self.made, self.ended, self.reached = cause.created, cause.freed_by, cause.reached_again_by
        self.name = cause.carrier.name if cause.carrier else ""
        self.held = f"{self.number('carried')}{self.name}"
        self._lines = {file: lines_of(text) for file, text in sources.items()}

    def number(self, kind: str) -> str:
        """Return the story's number of a kind of event, as a prefix of its text."""
        known = numbers(steps(self.cause, self.family)).get(kind)
        return f"{known} " if known else ""

    def quote(self, event: Location) -> str:
        """Return the event's line, from the request if the event has no source of its own."""
        code = event.code.strip()
        lines = self._lines.get(event.file, [])
        if not code and 0 < event.line <= len(lines):
            code = lines[event.line - 1].strip()
        return f"{self.at(event)}  {code}".rstrip()

    def at(self, event: Location) -> str:
        """Return the event's line, as a sentence names it."""
        place = f"{PurePath(event.file).name}:" if spans_files(self.cause) else "line "
        return event.cell or f"{place}{event.line}"

    def node(self, kind: str, text: str, event: Event | None, mark: Mark) -> SceneNode:
        """Return an event as a node whose key is its kind."""
        code = self.quote(event) if event else ""
        named = event and event.op and mark not in ("loss", "backward") and event.op not in NOT_CUT
        op = event.op or "" if event and named else ""
        return SceneNode(kind, f"{self.number(kind)}{text}", code, op, mark)

    def note(self, kind: str) -> str:
        """Return what the story says of an event, in short."""
        events = steps(self.cause, self.family)
        return next((step.note for step in events if step.kind == kind), "").replace("`", "")
