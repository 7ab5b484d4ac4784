"""What could be behind an error that nothing could show: the lines of a text that are known for
it, each with the usual remedy, and what versions have to do with it.

Every module here holds `ENTRIES` for one family of errors, and is found by itself. An entry says
what to look for in the source and what to tell; it proves nothing.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from analyzers.evidence import Place
from analyzers.source.project import Module, Project
from analyzers.tracebacks import ParsedTraceback

MAX_HINTS = 5

# What an entry finds in a syntax node of a module: the name to tell it by, or nothing.
Look = Callable[[ast.AST, Module], str | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """`kinds`: of error within the family, where it must be one of them.
    `look` finds lines of the source, or `frames` a part of the path of a library's frame; `say` is
    told about them, with `{name}` for what was found. `blames`: whether such a line can be the
    fault itself."""

    say: str
    look: Look | None = None
    kinds: frozenset[str] = frozenset()
    frames: str = ""
    kind: Literal["lines", "version"] = "lines"
    blames: bool = True


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing to look at. `place` is None for what concerns the whole; `blames` as in `Entry`."""

    kind: Literal["lines", "version"]
    text: str
    place: Place | None = None
    code: str = ""
    blames: bool = True


@cache
def entries() -> dict[str, tuple[Entry, ...]]:
    """The entries of every family, the most telling first."""
    found: dict[str, tuple[Entry, ...]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for family in getattr(module, "FAMILIES", ()):
            found[family] = module.ENTRIES
    return found


def hints(project: Project, error: ParsedTraceback) -> tuple[Hint, ...]:
    """What could be behind the error: first on lines that the traceback names, then in functions
    that it passes through, then elsewhere; of each entry the first line only."""
    told: list[tuple[int, int, Hint]] = []
    near = _Nearness(project, error)
    for rank, entry in enumerate(entries().get(error.family, ())):
        if entry.kinds and error.kind not in entry.kinds:
            continue
        found = [(near.of(hint), hint) for hint in _found(entry, project, error)]
        if found:
            distance, hint = min(found, key=lambda pair: pair[0])
            told.append((distance, rank, hint))
    told.sort(key=lambda each: each[:2])
    return tuple(hint for _, _, hint in told[:MAX_HINTS])


def _found(entry: Entry, project: Project, error: ParsedTraceback) -> Iterator[Hint]:
    if entry.frames and any(entry.frames in frame.file for frame in error.frames):
        yield Hint(entry.kind, entry.say.format(name=""))
    if entry.look is None:
        if not entry.frames:
            yield Hint(entry.kind, entry.say)
        return
    for module in project.modules.values():
        for node in module.nodes:
            name = entry.look(node, module)
            if name is not None:
                line = getattr(node, "lineno", 1)
                place = Place(module.path, line)
                text = entry.say.format(name=name)
                yield Hint(entry.kind, text, place, module.code(line), entry.blames)


class _Nearness:
    """How far a place is from what the traceback names: 0 for its innermost line, 1 for another
    of its lines, 2 for a function that it passes through, 3 for a file, 4 for the rest."""

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
            return 0 if hint.kind == "lines" else 5
        at = (hint.place.file, hint.place.line)
        if at == self._last:
            return 0
        if at in self._lines:
            return 1
        if any(file == at[0] and at[1] in span for file, span in self._spans):
            return 2
        return 3 if any(file == at[0] for file, _ in self._lines) else 4
