"""Find the innermost activation that both backward calls of a reuse share."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.passing import CallFrame, frames
from analyzers.explain.source_locations import resolve_location
from analyzers.source.callees import own_name
from analyzers.source.flow import walk_scope
from analyzers.source.project import Loop, Module, Project, Scope
from analyzers.source.trees import end_of, position, walk
from provenance import BackwardCall, CodeLine


def yields(scope: Scope) -> Iterator[ast.Yield]:
    """Return the `yield` expressions of a generator."""
    return (node for node in walk_scope(scope) if isinstance(node, ast.Yield))


@dataclass(frozen=True)
class Shared:
    """The innermost activation that both calls share: the statement in it that leads to each,
    where in the function that happens, and the call's line.
    """

    module: Module
    scope: Scope
    freed: ast.stmt
    reached: ast.stmt
    freed_at: tuple[int, int]
    reached_at: tuple[int, int]
    freed_line: int
    reached_line: int
    frame: int
    function: str

    @cached_property
    def loops(self) -> list[Loop]:
        """Return the loops around both statements, innermost first."""
        around = self.module.loops_around(self.freed)
        return [loop for loop in self.module.loops_around(self.reached) if loop in around]


class SharedFrame:
    """Two backward calls on one graph, mapped to the source: their shared frame and its loops."""

    def __init__(self, reuse: GraphReuse, project: Project) -> None:
        self.reuse = reuse
        self.project = project

    @cached_property
    def shared(self) -> Shared | None:
        """Return the innermost frame on both stacks; None if its source is not known."""
        stacks = _stack(self.reuse.freed), _stack(self.reuse.reached)
        common = list(_common(zip(*stacks, strict=False)))
        for inner, (freed, reached) in reversed(list(enumerate(common, 1))):
            there = resolve_location(self.project, reached)
            first = there.module.statement_at(freed.line, freed.column) if there else None
            if there is not None and first is not None:
                return Shared(
                    there.module,
                    there.scope,
                    freed=first,
                    reached=there.statement,
                    freed_at=self._passed_at(first, stacks[0][inner:]),
                    reached_at=self._passed_at(there.statement, stacks[1][inner:]),
                    freed_line=freed.line,
                    reached_line=reached.line,
                    frame=reached.frame,
                    function=reached.function,
                )
        return None

    def _passed_at(self, statement: ast.stmt, called: Sequence[CodeLine]) -> tuple[int, int]:
        """Return where the function was as a statement led to these calls: at the end of a `with`
        statement whose context manager made them as it was left.
        """
        if not called or not isinstance(statement, ast.With | ast.AsyncWith):
            return position(statement)
        manager = resolve_location(self.project, called[0])
        given = next(yields(manager.scope), None) if manager is not None else None
        left = given is not None and called[0].line > given.lineno
        is_exit = called[0].function.endswith(("__exit__", "__aexit__"))
        return end_of(statement) if is_exit or left else position(statement)

    @property
    def frame(self) -> Shared:
        """Return the shared frame, which must exist."""
        assert self.shared is not None
        return self.shared

    def handing_on(self, loop: Loop) -> Iterator[tuple[Loop, Scope]]:
        """Yield a loop of the shared frame and the loops in generators that feed it, each with its
        function.
        """
        yield loop, self.frame.scope
        for function, module in self.generators_of(loop).items():
            for given in yields(function):
                if around := module.loops_around(given):
                    yield around[0], function

    def generators_of(self, loop: Loop) -> dict[Scope, Module]:
        """Return the script's generators that a loop iterates over."""
        over = walk(loop.iter) if not isinstance(loop, ast.While) else ()
        names = dict.fromkeys(own_name(n) for n in over if isinstance(n, ast.Call))
        named = (pair for name in names for pair in self.project.functions_named(name))
        return {function: module for module, function in named if any(yields(function))}

    @cached_property
    def above(self) -> list[CallFrame]:
        """Return the shared frame and its callers, outermost first."""
        reached = frames(self.project, self.reuse.reached)
        if self.shared is None:
            return []
        at = [i for i, frame in enumerate(reached) if frame.place.frame == self.shared.frame]
        return reached[: at[-1] + 1] if at else []

    def is_outer(self, scope: ast.AST) -> bool:
        """Return True if a function called the shared frame: what it binds existed before."""
        return any(frame.scope is scope for frame in self.above[:-1])

    @cached_property
    def same_line(self) -> bool:
        """Return True if the same statement of the shared frame led to both calls."""
        shared = self.shared
        return shared is not None and shared.freed is shared.reached

    @cached_property
    def same_iteration(self) -> bool:
        """Return True if both calls belong to one iteration of the innermost
        loop that they share.
        """
        shared = self.shared
        if shared is None:
            return False
        if self.same_line:
            return self._two_calls
        in_order = shared.freed_at < shared.reached_at
        return not shared.loops or (in_order and self.reuse.freed.later == 0)

    @cached_property
    def _two_calls(self) -> bool:
        """Return True if one line calls two functions that run backward, each
        equally often so far.
        """
        freed, reached = self.reuse.freed, self.reuse.reached
        return (
            self.called_for(freed) != self.called_for(reached)
            and freed.iteration == reached.iteration
            and freed.later == 0
        )

    def called_for(self, backward_call: BackwardCall) -> str:
        """Return the function that the shared frame called to reach a backward call; empty if it
        calls backward itself.
        """
        shared, stack = self.shared, _stack(backward_call)
        for place, inner in pairwise(stack):
            if shared is not None and place.frame == shared.frame and inner.frame != place.frame:
                if place.function == shared.function:
                    return inner.function.rpartition(".")[2]
        return ""


def _stack(backward_call: BackwardCall) -> tuple[CodeLine, ...]:
    return backward_call.stack or (backward_call.at,)


def _common(pairs: Iterator[tuple[CodeLine, CodeLine]]) -> Iterator[tuple[CodeLine, CodeLine]]:
    """Yield the leading frames that are the same activation on both stacks."""
    for freed, reached in pairs:
        if (freed.file, freed.function, freed.frame) != (
            reached.file,
            reached.function,
            reached.frame,
        ):
            return
        yield freed, reached
        if freed.line != reached.line and not freed.frame:
            return
