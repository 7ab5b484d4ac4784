"""Blocks that are open while flattened code is read: their headers, and what their bodies do."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from analyzers.paste.outline import begun, called, filled, stepped
from analyzers.source.targets import assigned


@dataclass(frozen=True, slots=True)
class FlatLine:
    """A logical line. `header`: a body belongs below it; `blank`: empty lines above it."""

    text: str
    header: bool
    blank: int = 0

    @property
    def word(self) -> str:
        """Its first word; `@` of a decorator."""
        return "@" if self.text.startswith("@") else self.text.split(None, 1)[0].rstrip(":")


@dataclass(slots=True)
class OpenBlock:
    """An open block: its header, which names were set above it, and which of them as an empty list
    or a number; the last statement of its body so far, and what names the body sets, adds to,
    begins as empty, and calls."""

    line: FlatLine
    node: ast.stmt | None = None
    known: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    last: ast.stmt | None = None
    sets: set[str] = field(default_factory=set)
    adds: set[str] = field(default_factory=set)
    begins: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    steps: set[str] = field(default_factory=set)

    def add(self, node: ast.stmt) -> None:
        """Take a statement into the body."""
        self.last = node
        self.sets.update(assigned(node))
        self.adds |= filled(node)
        self.begins |= begun(node)
        self.calls |= called(node)
        self.steps |= stepped(node)
