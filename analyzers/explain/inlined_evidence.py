"""Map evidence about a script to the same script with one-line helpers inlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

from analyzers.evidence import Evidence
from analyzers.explain.inlined import Inlined, InlinedCall
from provenance import Binding, CodeLine, Referrer


def translated(view: Inlined, evidence: Evidence) -> Evidence:
    """Return the evidence with each helper's line replaced by that of its call."""
    moved: Evidence = _Translation(view.calls, evidence).of(evidence)
    return moved


def concerns(view: Inlined, evidence: Evidence) -> bool:
    """Return True if evidence mentions an inlined helper or the line that calls it; all else is the
    same in both.
    """
    return any(
        one.ran(place) or (place.file == one.module.path and place.line in one.lines)
        for place in _places(evidence)
        for one in view.calls
    )


class _Translation:
    """Map one piece of evidence."""

    def __init__(self, calls: tuple[InlinedCall, ...], evidence: Evidence) -> None:
        self._calls = calls
        self._known = list(_places(evidence))
        self._callers = {
            inner: outer
            for stack in _stacks(evidence)
            for outer, inner in pairwise(stack)
            if self._of(inner) is not None
        }

    def _of(self, place: CodeLine) -> InlinedCall | None:
        return next((one for one in self._calls if one.ran(place)), None)

    def of(self, value: Any) -> Any:
        """Return the value with all places mapped and without names that only helpers have."""
        if isinstance(value, CodeLine):
            return self._moved(value)
        if isinstance(value, Referrer):
            return self._held(value)
        if isinstance(value, tuple):
            parts = [self.of(part) for part in value if not self._is_helpers(part)]
            twice = [p == q and isinstance(p, CodeLine) for p, q in pairwise([None, *parts])]
            return tuple(part for part, again in zip(parts, twice, strict=True) if not again)
        if is_dataclass(value) and not isinstance(value, type):
            new = {f.name: self.of(getattr(value, f.name)) for f in fields(value)}
            return replace(value, **new)
        return value

    def _is_helpers(self, part: Any) -> bool:
        """Return True if only a helper has a value under this name."""
        if isinstance(part, Referrer):
            one = self._named(part)
            return one is not None and one.outside(part.path) is None
        return isinstance(part, Binding) and self._of(part.at) is not None

    def _named(self, holder: Referrer) -> InlinedCall | None:
        name = holder.scope.rpartition(".")[2]
        return next((one for one in self._calls if one.helper.name == name), None)

    def _held(self, holder: Referrer) -> Referrer:
        one = self._named(holder)
        if one is None:
            scopes = (call.within(holder.scope) for call in self._calls)
            return replace(
                holder, scope=next((s for s in scopes if s != holder.scope), holder.scope)
            )
        at = self._moved(CodeLine(one.module.path, one.answer.lineno, holder.scope, holder.frame))
        path = one.outside(holder.path) or holder.path
        return replace(holder, path=path, scope=at.function, frame=at.frame)

    def _moved(self, place: CodeLine) -> CodeLine:
        one = self._of(place)
        if one is None:
            return place
        if (function := one.within(place.function)) != place.function:
            return CodeLine(place.file, one.call.lineno, function, place.frame)
        if place in self._callers:
            return self._callers[place]
        own = [p.frame for p in self._known if p.function == one.function and p.file == place.file]
        frame = min(own, key=lambda known: abs(known - place.frame), default=place.frame)
        return CodeLine(place.file, one.call.lineno, one.function, frame)


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and all that it consists of."""
    yield value
    inner: Iterable[Any] = value if isinstance(value, tuple) else ()
    if is_dataclass(value) and not isinstance(value, type | CodeLine):
        inner = (getattr(value, field.name) for field in fields(value))
    for part in inner:
        yield from _parts(part)


def _places(value: Any) -> Iterator[CodeLine]:
    return (part for part in _parts(value) if isinstance(part, CodeLine))


def _stacks(value: Any) -> Iterator[tuple[CodeLine, ...]]:
    tuples = (part for part in _parts(value) if isinstance(part, tuple) and part)
    return (one for one in tuples if all(isinstance(part, CodeLine) for part in one))
