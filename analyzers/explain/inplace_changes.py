"""Describe a tensor that was changed in place before its backward: the change, and the kind of
value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, InplaceChange
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.source_locations import (
    SourceLocation,
    carrier_of,
    matched_at,
    names_held,
    resolve_location,
)
from analyzers.source.callees import in_library
from analyzers.source.calls import argument_for, calls_to, steps
from analyzers.source.flow import definitions, statements_of
from analyzers.source.project import Loop, Project, spelled
from analyzers.source.signatures import parameters
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, walk
from analyzers.source.writes import writes
from provenance import CodeLine, InplaceWrite

Nature = Literal["step", "state", "activation"]
MAX_CALLERS = 2  # calls through which a parameter is followed outwards


class StaleValue:
    """In-place evidence, laid over the source it speaks of."""

    def __init__(self, evidence: InplaceChange, project: Project) -> None:
        self.evidence = evidence
        self.project = project

    @cached_property
    def changes(self) -> list[tuple[InplaceWrite, SourceLocation]]:
        """Return the lines that changed the tensor, as far as their source is known, each once."""
        found: dict[int, tuple[InplaceWrite, SourceLocation]] = {}
        for change in self.evidence.changes:
            where = resolve_location(self.project, change.at)
            if where is not None:
                where = _writing(where)
                found.setdefault(id(where.statement), (change, where))
        return list(found.values())

    @cached_property
    def names(self) -> list[str]:
        """Return the tensor's names, those of the changing function first."""
        at = self.change_place
        return names_held(self.evidence.holders, at.function if at is not None else None)

    @cached_property
    def saving(self) -> SourceLocation | None:
        """Return the statement whose operation saved the tensor for its backward."""
        node = self.evidence.node
        return resolve_location(self.project, node.at if node is not None else None)

    @property
    def change_place(self) -> CodeLine | None:
        """Return the first line that changed the tensor."""
        return self.changes[0][1].place if self.changes else None

    @cached_property
    def statements(self) -> list[SourceLocation]:
        """Return the statements that changed the tensor; if no run recorded them, those that write
        to one of its names in the function that saved it.
        """
        if self.changes:
            return [where for _, where in self.changes]
        saved = self.saving
        if saved is None:
            return []
        return [
            SourceLocation(
                saved.module, node, CodeLine(saved.module.path, node.lineno, saved.place.function)
            )
            for node in statements_of(saved.scope)
            if any(self.concerns(w.name) for w in writes(node))
        ]

    def concerns(self, name: str) -> bool:
        """Return True if a name in the source is one of the tensor's."""
        return any(name == held.partition("[")[0] or name == held for held in self.names)

    def concerned(self, where: SourceLocation) -> set[str]:
        """Return the names that a statement writes and that are the tensor's; all written names if
        none is.
        """
        written = {write.name for write in writes(where.statement)}
        return {name for name in written if self.concerns(name)} or written

    @cached_property
    def nature(self) -> Nature:
        """Return what was changed: a weight by a step, a state over time, or
        any other activation.
        """
        if self.evidence.is_parameter and self._stepped():
            return "step"
        return "state" if any(self._is_state(where) for where in self.statements) else "activation"

    def _stepped(self) -> bool:
        if not self.evidence.changes:
            return True
        return any(
            change.after > 0 or change.op == "step" or bool(steps(where.statement))
            for change, where in self.changes
        )

    def _is_state(self, where: SourceLocation) -> bool:
        """Return True if what is written lives longer than the iteration, or the call, that writes
        it.
        """
        return any(self._outlives(where, name) for name in self.concerned(where))

    def _outlives(self, where: SourceLocation, name: str, depth: int = MAX_CALLERS) -> bool:
        """Return True if a name's tensor is older than the iteration of a loop around a statement,
        or than the call that holds it; for a parameter, look at what the callers pass.
        """
        if "." in name and not name.endswith((".data", ".grad")):
            if not self._bound_in(where, name):
                return True
        loops = where.module.loops_around(where.statement)
        if any(self._bound_before(loop, where, name) for loop in loops if not _is_deep(loop)):
            return True
        return depth > 0 and any(
            self._outlives(caller, given, depth - 1) for caller, given in self._given(where, name)
        )

    def _given(self, where: SourceLocation, name: str) -> Iterator[tuple[SourceLocation, str]]:
        """Yield the statements that call the function around this one, and the argument passed for
        its parameter of this name.
        """
        function = where.scope
        if not isinstance(function, ast.FunctionDef) or self._bound_in(where, name):
            return
        taken = parameters(function)
        for module, call in calls_to(self.project, function.name) if name in taken else ():
            given = argument_for(call, taken, name)
            statement = module.statement_at(call.lineno, call.col_offset)
            if given is not None and statement is not None:
                yield (
                    SourceLocation.of(module, statement),
                    spelled(given),
                )

    def _bound_in(self, where: SourceLocation, name: str) -> bool:
        return any(not list(writes(node)) for node in definitions(where.scope, name))

    def _bound_before(self, loop: Loop, where: SourceLocation, name: str) -> bool:
        """Return True if the name is bound only outside of the loop."""
        inside = {id(node) for node in walk(loop)}
        binders = [
            node
            for node in definitions(where.scope, name)
            if node is not where.statement and not any(write.name == name for write in writes(node))
        ]
        return bool(binders) and not any(id(node) in inside for node in binders)

    def matched(self, pattern: str, certainty: Certainty) -> Match:
        """Return a match, located at the first line that changed the tensor."""
        evidence = self.evidence
        reached = evidence.reached.at if evidence.reached is not None else evidence.at
        saved = evidence.node.at if evidence.node is not None else None
        place = self.change_place or saved or reached or CodeLine(self.project.entry, 1)
        names = self.names or [
            name
            for where in self.statements
            for name in sorted(self.concerned(where)) or _called(where)
        ]
        carrier = GraphCarrier(names[0], saved or place) if names else None
        return Match(pattern, certainty, evidence, place, carrier)


def _is_deep(loop: Loop) -> bool:
    """Return True if a loop iterates over layers, which it calls one after another: that is depth,
    not time.
    """
    own = set(target_names(loop.target)) if isinstance(loop, ast.For) else set()
    return any(spelled(node.func) in own for node in nodes_of(loop, ast.Call))


def _writing(where: SourceLocation) -> SourceLocation:
    """Return, of several statements on one line (`h += x; y = f(h)`), the first that writes in
    place.
    """
    alike = [s for s in where.block if s.lineno == where.statement.lineno]
    chosen = next((s for s in alike if list(writes(s))), where.statement)
    return SourceLocation(where.module, chosen, where.place)


def stale_of(evidence: Evidence, project: Project) -> StaleValue | None:
    """Return the tensor that was changed after it was saved; None for other evidence."""
    saved = isinstance(evidence, InplaceChange) and evidence.kind == "saved"
    return StaleValue(evidence, project) if saved and isinstance(evidence, InplaceChange) else None


def refused(pattern: str, evidence: Evidence, project: Project, kind: str) -> Match | None:
    """Return a match if PyTorch refused an in-place write: to a `leaf`, or through a `view`."""
    if not isinstance(evidence, InplaceChange) or evidence.kind != kind or evidence.at is None:
        return None
    where = resolve_location(project, evidence.at)
    written = {write.name for write in writes(where.statement)} if where is not None else set()
    held = sorted(evidence.holders, key=lambda holder: holder.path not in written)
    carrier = carrier_of(held, evidence.at, evidence.at.function)
    return matched_at(pattern, Certainty.CERTAIN, evidence, evidence.at, carrier)


def _called(where: SourceLocation) -> list[str]:
    """Return the names of the script's own objects that a statement calls, innermost call first."""
    calls = [n for n in nodes_of(where.statement, ast.Call) if n.args]
    own = [c for c in reversed(calls) if not isinstance(c.func, ast.Call) and not in_library(c)]
    return [spelled(call.func) for call in own]
