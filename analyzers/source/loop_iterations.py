"""Find what a loop iterates over: for a `for`, its collection; for a `while`, where it takes its
next part from (`next(walker)`, `queue.popleft()`) or what its counter is compared with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from analyzers.source.callees import is_call
from analyzers.source.flow import definitions, names_read, walk_scope
from analyzers.source.project import LOOPS, Loop, Scope
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of, walk

_TAKING = ("pop", "popleft", "get", "get_nowait")


@dataclass(frozen=True)
class Iterated:
    """The targets that get a part of `over` in each iteration, or are a count that it ends."""

    targets: tuple[ast.expr, ...]
    over: ast.expr
    counted: bool = False

    @cached_property
    def names(self) -> set[str]:
        """Return the names that denote a part or its number."""
        return {name for target in self.targets for name in target_names(target)}


def iterated(loop: Loop, scope: Scope) -> Iterated | None:
    """Return what a loop iterates over; None if it is unknown."""
    if not isinstance(loop, ast.While):
        return Iterated((loop.target,), loop.iter)
    given = [(s.targets[0], s.value) for s in walk_scope(loop) if isinstance(s, ast.Assign)]
    for target, value in given:
        over = _asked(value, loop, scope)
        if over is not None:
            return Iterated((target, *_handed_on(target, given)), over)
    counted = [s.target for s in walk_scope(loop) if isinstance(s, ast.AugAssign)]
    found = tuple(t for t in counted if isinstance(t, ast.Name) and t.id in names_read(loop.test))
    return Iterated(found, loop.test, counted=True) if found else None


def _asked(value: ast.expr, loop: ast.While, scope: Scope) -> ast.expr | None:
    """Return the collection of which an expression yields the next part."""
    match value:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=iterator), *_]):
            made = [s.value for s in definitions(scope, iterator) if isinstance(s, ast.Assign)]
            if (
                len(made) == 1
                and isinstance(made[0], ast.Call)
                and is_call(made[0], "builtins.iter")
            ):
                return made[0].args[0] if made[0].args else None
            return made[0] if len(made) == 1 else None
        case ast.Call(func=ast.Attribute(value=ast.Name(id=queue) as over, attr=attr)):
            asked = any(n.id == queue for n in nodes_of(loop.test, ast.Name))
            return over if asked and attr in _TAKING else None
    return None


def _handed_on(target: ast.expr, given: list[tuple[ast.expr, ast.expr]]) -> Iterator[ast.expr]:
    """Yield other names of a part: `x, y = item`."""
    name = target.id if isinstance(target, ast.Name) else ""
    for other, value in given:
        if isinstance(value, ast.Name) and value.id == name:
            yield other


def body_of(loop: Loop) -> list[ast.stmt]:
    """Return the statements of a loop's body, also if a `with` wraps all of them."""
    body = loop.body
    while len(body) == 1 and isinstance(body[0], ast.With | ast.AsyncWith):
        body = body[0].body
    return body


def in_each_iteration(loop: Loop, statement: ast.stmt) -> bool:
    """Return True if every iteration reaches a statement: it is in the loop's own block, and no
    `continue` comes before it.
    """
    block = body_of(loop)
    if statement not in block:
        return False
    before = [s for s in block[: block.index(statement)] if not isinstance(s, LOOPS)]
    return not any(isinstance(node, ast.Continue) for s in before for node in walk(s))
