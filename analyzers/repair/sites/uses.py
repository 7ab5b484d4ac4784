"""Find where the loss of one backward call reads a carried value, in any function on the call's
stack.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.reuse.passing import frames, known_below
from analyzers.repair.cut.detaching import Idiom, idiom_for
from analyzers.source.callees import own_name
from analyzers.source.detached import WITHOUT_GRAPH, names_attached
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, own_expressions, put_in, statements_of, value_of
from analyzers.source.project import Module, Scope, spelled
from analyzers.source.trees import children, position, walk
from provenance import BackwardCall

_BLOCK = (ast.stmt, ast.excepthandler)


def uses(
    story: ReuseFeatures, backward_call: BackwardCall
) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield the reads on the way to a backward call: those of the innermost function that has the
    carrier first, those of the shared frame last. For each function, yield the carrier's name, and
    edits that detach it where the loss reads it.
    """
    shared = story.shared
    if shared is None or not story.name:
        return
    idiom = idiom_for(story)
    stack = frames(story.project, backward_call)
    at = next((i for i, f in enumerate(stack) if f.place.frame == shared.frame), len(stack))
    for frame, name in reversed(list(known_below(stack[at:], story.name))):
        if edits := _detached(idiom, frame.module, frame.scope, frame.statement, name):
            yield name, edits
    last = shared.freed if backward_call is story.reuse.freed else shared.reached
    only = story.called_for(backward_call) if story.same_line else ""
    if edits := _detached(idiom, shared.module, shared.scope, last, story.name, only):
        yield story.name, edits


def _detached(
    idiom: Idiom, module: Module, scope: Scope, last: ast.stmt | None, name: str, only: str = ""
) -> tuple[Edit, ...]:
    """Return edits that detach a name wherever the loss of the last statement reads it; of a
    statement with several calls, in that of the function `only`.
    """
    found = [
        node
        for statement in (leading_to(scope, last, name) if last is not None else ())
        for node in _read_by(statement, only)
        if isinstance(node, ast.Name | ast.Attribute) and spelled(node) == name
        if isinstance(node.ctx, ast.Load)
        if getattr(module.parents.get(node), "attr", None) not in WITHOUT_GRAPH
    ]
    return tuple(idiom.at(Editor(module), node) for node in found)


def _read_by(statement: ast.stmt, function: str) -> Iterator[ast.AST]:
    """Yield the nodes of a statement's own expressions, or only those in calls of the function."""
    for node in own_expressions(statement):
        if not function:
            yield node
        elif isinstance(node, ast.Call) and own_name(node) == function:
            yield from walk(node)


def leading_to(scope: Scope, last: ast.stmt, stop: str) -> list[ast.stmt]:
    """Return the statements from which the last one gets its values, and itself, back to where
    `stop` is bound: a backward slice over the scope in source order.
    """
    before = [s for s in statements_of(scope) if position(s) < position(last)]
    value = value_of(last)
    found, wanted = [last], carrying([value]) if value is not None else _own_names(last)
    for statement in sorted(before, key=position, reverse=True):
        bound = set(bindings(statement))
        if stop in bound:
            break
        if bound & wanted:
            found.append(statement)
            if isinstance(statement, ast.Assign):
                wanted -= bound
            wanted |= _own_names(statement) - {stop}
    return found


def _own_names(statement: ast.stmt) -> set[str]:
    """Return the names whose graphs enter what a statement does; a container that it stores into
    (`info` of `info["loss"] = f(x)`) adds nothing.
    """
    if isinstance(statement, ast.Assign):
        return carrying([statement.value])
    return carrying([node for node in children(statement) if not isinstance(node, _BLOCK)])


def carried_from(scope: Scope, statement: ast.stmt) -> tuple[set[str], bool]:
    """Return the names of a scope that may carry the graph of what a statement binds, and whether
    it or a later `return` returns that graph.
    """
    carried, returned = set(bindings(statement)), isinstance(statement, ast.Return)
    for later in statements_of(scope):
        value = later.value if isinstance(later, ast.Return) else value_of(later) or put_in(later)
        if position(later) > position(statement) and value and carrying([value]) & carried:
            carried |= set(bindings(later))
            returned = returned or isinstance(later, ast.Return)
    return carried, returned


def carrying(nodes: Iterable[ast.AST]) -> set[str]:
    """Return names and dotted paths whose graphs may be in the values of the expressions."""
    return {name for node in nodes for name in names_attached(node)}
