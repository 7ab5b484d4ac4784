"""Rank the possible causes of an error by the evidence for each."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from analyzers.source.project import Project
from analyzers.tracebacks import ParsedTraceback
from provenance import CodeLine

MAX_HINTS = 5
OF_RESULT = "the operation that the message names"


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing to look at.

    `place` is None for what concerns the whole, or for a setting outside of the code; `code` is the
    line. `blames`: such a line can be the fault itself; `usual`: nothing in the source shows it, it
    is the message's usual cause. `points_to`: the kind of fault, if it is another than the
    message's. `words`: what the words around the code say of it, with its `topics`; `vague`: these
    name no fault, and make one likelier.
    """

    kind: Literal["lines", "version"]
    text: str
    place: CodeLine | None = None
    code: str = ""
    blames: bool = True
    usual: bool = False
    points_to: str | None = None
    words: str = ""
    topics: frozenset[str] = frozenset()
    vague: bool = False

    @property
    def _source(self) -> str:
        """Return what shows it. Several sources support a cause more than one."""
        if self.usual:
            return ""
        return "words" if self.words else "code" if self.place is not None else "error"


class Ranking:
    """The hints of one error's causes: for each cause the nearest of its hints.

    A cause ranks by how far the nearest is from what the traceback names, less one for each
    further source of evidence; of equals, one of two topics comes before one of either, then counts
    how many lines of words name it, and last the order in which causes are added, the more usual
    first.
    """

    def __init__(self, project: Project, error: ParsedTraceback) -> None:
        self._near = _Nearness(project, error)
        self._ranked: list[tuple[int, int, frozenset[str], Hint]] = []

    def add(self, found: Iterable[Hint]) -> None:
        """Add the hints of one cause. One with a line repeats what the words say."""
        hints = sorted(found, key=self._near.of)
        if not hints:
            return
        sources = {hint._source for hint in hints}
        distance = self._near.of(hints[0]) - len(sources) + 1
        first = next((hint for hint in hints if hint.place is not None), hints[0])
        said = [hint.words for hint in hints if hint.words]
        if first.place is not None and said:
            first = replace(first, text=f"{first.text} (The words name “{said[0]}”.)")
        topics = max((hint.topics for hint in hints), key=len)
        self._ranked.append((distance, -len(said), topics, first))

    def hints(self) -> tuple[Hint, ...]:
        """Return the hints in order, one for each place."""
        kept: list[Hint] = []
        for *_, hint in sorted(self._ranked, key=self._order):
            if hint.place is None or all(hint.place != other.place for other in kept):
                kept.append(hint)
        return tuple(kept[:MAX_HINTS])

    def _order(self, one: tuple[int, int, frozenset[str], Hint]) -> tuple[int, int, int]:
        distance, lines, topics, _ = one
        return distance, -sum(other < topics for *_, other, _ in self._ranked if other), lines


class _Nearness:
    """How far a place is from what the traceback names: 0 for its innermost line, 1 for another
    of its lines, 2 for a function that it passes through, 3 for a file, 4 for the rest; 5 for an
    operation that a message names, 6 for what only makes a cause likelier, 7 for what is only
    usual."""

    def __init__(self, project: Project, error: ParsedTraceback) -> None:
        own = [frame for frame in error.frames if not frame.is_library]
        self._lines = {(frame.file, frame.line) for frame in own}
        self._last = (own[-1].file, own[-1].line) if own else None
        self._spans: list[tuple[str, range]] = []
        for file, line in self._lines:
            module = project.module(file)
            statement = module.statement_at(line) if module is not None else None
            scope = module.scope_of(statement) if module is not None and statement else None
            if scope is not None and not isinstance(scope, ast.Module):
                self._spans.append((file, range(scope.lineno, (scope.end_lineno or 0) + 1)))

    def of(self, hint: Hint) -> int:
        if hint.place is None:
            vague = hint.vague or hint.kind == "version"
            of_result = hint.code == OF_RESULT  # what a message names comes before words
            return 7 if hint.usual else 5 if of_result else 6 if vague else 0
        at = (hint.place.file, hint.place.line)
        if at == self._last:
            return 0
        if at in self._lines:
            return 1
        if any(file == at[0] and at[1] in span for file, span in self._spans):
            return 2
        return 3 if any(file == at[0] for file, _ in self._lines) else 4
