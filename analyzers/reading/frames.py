"""Activations of functions: their names, what they close over, and who called them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from analyzers.reading.values import AbstractValue, Class
from provenance import CodeLine


@dataclass(slots=True, eq=False)
class InterpreterFrame:
    """One activation. `parent` is the frame closed over, `caller` the one that waits.
    `captured`: an inner function keeps its names alive. `consumer`: of a generator's, what is done
    with each value before the generator goes on."""

    file: str
    function: str
    serial: int
    parent: InterpreterFrame | None = None
    caller: InterpreterFrame | None = None
    module: InterpreterFrame | None = None
    line: int = 1
    column: int = -1
    names: dict[str, AbstractValue] = field(default_factory=dict)
    logs: dict[str, list[int]] = field(default_factory=dict)
    elsewhere: dict[str, InterpreterFrame] = field(default_factory=dict)
    yields: list[AbstractValue] | None = None
    consumer: Callable[[AbstractValue], None] | None = None
    returned: AbstractValue | None = None
    owner: Class | None = None
    captured: bool = False
    places: dict[tuple[int, int], CodeLine] = field(default_factory=dict)

    def place(self) -> CodeLine:
        """Return the line being executed."""
        key = line, column = self.line, self.column
        place = self.places.get(key)
        if place is None:
            place = CodeLine(self.file, line, self.function, self.serial, column)
            self.places[key] = place
        return place

    def stack(self) -> tuple[CodeLine, ...]:
        """Return the lines being executed, outermost first, at most forty."""
        places: list[CodeLine] = []
        frame: InterpreterFrame | None = self
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

    def lookup(self, name: str) -> AbstractValue | None:
        """Return the value of a name as a function body sees it, or None."""
        frame: InterpreterFrame | None = self
        while frame is not None:
            value = frame.names.get(name)
            if value is not None:
                return value
            frame = frame.parent
        return None
