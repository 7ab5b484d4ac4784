"""Activations of functions: their names, what they close over, and who called them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from analyzers.evidence import Place
from analyzers.reading.values import Class, Value


@dataclass(slots=True, eq=False)
class Frame:
    """One activation. `parent` is the frame closed over, `caller` the one that waits.
    `captured`: an inner function keeps its names alive. `consumer`: of a generator's, what is done
    with each value before the generator goes on."""

    file: str
    function: str
    serial: int
    parent: Frame | None = None
    caller: Frame | None = None
    module: Frame | None = None
    line: int = 1
    column: int = -1
    names: dict[str, Value] = field(default_factory=dict)
    logs: dict[str, list[int]] = field(default_factory=dict)
    elsewhere: dict[str, Frame] = field(default_factory=dict)
    yields: list[Value] | None = None
    consumer: Callable[[Value], None] | None = None
    returned: Value | None = None
    owner: Class | None = None
    captured: bool = False
    places: dict[tuple[int, int], Place] = field(default_factory=dict)

    def place(self) -> Place:
        """Return the line being executed."""
        key = line, column = self.line, self.column
        place = self.places.get(key)
        if place is None:
            place = Place(self.file, line, self.function, self.serial, column)
            self.places[key] = place
        return place

    def stack(self) -> tuple[Place, ...]:
        """Return the lines being executed, outermost first, at most forty."""
        places: list[Place] = []
        frame: Frame | None = self
        while frame is not None and len(places) < 40:
            if frame.function:
                places.append(frame.place())
            frame = frame.caller
        return tuple(reversed(places))

    def leave(self, moment: int) -> None:
        """End the activation: its names hold nothing from now on."""
        if not self.captured:
            for log in self.logs.values():
                log.append(moment)

    def lookup(self, name: str) -> Value | None:
        """Return the value of a name as a function body sees it, or None."""
        frame: Frame | None = self
        while frame is not None:
            value = frame.names.get(name)
            if value is not None:
                return value
            frame = frame.parent
        return None
