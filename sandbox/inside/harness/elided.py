"""What `...` leaves out of a loop: the forward that hands on what nothing else in the text uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

CARRIED = "__carried__"


def handed_on(tree: ast.Module) -> list[str]:
    """Return the names that a script with `...` in a loop binds, and reads only to rebind them."""
    if not any(_is_elided(s) for loop in _loops(tree) for s in ast.walk(loop)):
        return []
    bound, read = set[str](), set[str]()
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign):
            own = {t.id for t in statement.targets if isinstance(t, ast.Name)}
            bound |= own
            read |= _loaded(statement.value) - own
        elif isinstance(statement, ast.stmt):
            read |= {n for part in _expressions(statement) for n in _loaded(part)}
    return sorted(bound - read)


def filled_in(tree: ast.Module, names: list[str]) -> ast.Module:
    """Return the script with every `...` in a loop recomputing these names from their values."""
    for loop in _loops(tree):
        for at, statement in enumerate(loop.body):
            if _is_elided(statement):
                made = ast.parse(f"{', '.join(names)}, = {CARRIED}({', '.join(names)}, )").body[0]
                for part in ast.walk(made):
                    ast.copy_location(part, statement)
                loop.body[at] = made
    return tree


def _loops(tree: ast.Module) -> Iterator[ast.For | ast.While]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While))


def _is_elided(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and node.value.value is Ellipsis
    )


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    return (part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.expr))


def _loaded(node: ast.expr) -> set[str]:
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }
