"""Which frames know a hop's name, when it has a value, and whether an assignment reaches it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.evidence import Hop, Place
from analyzers.explain.reuse.shared_frame import Shared
from analyzers.source.flow import (
    assigned_parts,
    backward_calls,
    bound_within,
    called_name,
    declared_outer,
    first_use,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Loop, Module, Project, Scope, spelled
from analyzers.source.trees import remembered, walk
from analyzers.source.writes import writes

_ALIASES = 3  # assignments by which a value goes from name to name


def walked_behind(module: Module, walk_: ast.stmt) -> ast.stmt:
    """The last statement of the same block that walks a graph or steps, from this one on."""
    block = module.block_of(walk_)
    last = walk_
    for statement in block[block.index(walk_) :] if walk_ in block else []:
        steps = isinstance(statement, ast.Expr) and any(
            isinstance(n, ast.Attribute) and n.attr == "step" for n in walk(statement)
        )
        if steps or backward_calls(statement):
            last = statement
    return last


def goes_on(hop: Hop, block: list[ast.stmt]) -> bool:
    """Whether the next pass reads the name before it gives it another value."""
    return "." in hop.name or first_use(block, hop.name.partition("[")[0]) == "read"


def covers(statement: ast.stmt, line: int) -> bool:
    """Whether a line is one of a statement's."""
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def unbound_at(loop: Loop, scope: Scope, name: str) -> bool:
    """Whether the first pass may come to the head of the loop before the name has any value."""
    stored = _bound_in(scope, name.partition(".")[0].partition("[")[0])
    inside = set(walk(loop))
    return bool(stored) and all(node in inside for node in stored)


def bound_outside(loop: Loop, scope: Scope, name: str) -> bool:
    """Whether a plain name of the scope gets its values in front of the loop only."""
    stored = _bound_in(scope, name)
    inside = set(walk(loop))
    written = name in bound_within(loop) or any(
        any(write.name == name for write in writes(node))
        for node in inside
        if isinstance(node, ast.stmt)
    )
    return bool(stored) and not written and not any(node in inside for node in stored)


def _bound_in(scope: Scope, name: str) -> list[ast.AST]:
    """Where a scope, or a function in it, gives a plain name a value."""
    return [
        node
        for node in walk(scope)
        if (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
    ]


def guarded(lines: list[str], hops: Sequence[Hop], step: str) -> list[str]:
    """The lines under `if x is not None:` where the first pass finds None."""
    missing = [hop.name for hop in hops if hop.none_before]
    if not missing:
        return lines
    asked = " and ".join(f"{name} is not None" for name in missing)
    return [f"if {asked}:", *(f"{step}{line}" for line in lines)]


def is_local(hop: Hop, scope: Scope) -> bool:
    """Whether the function itself gives the name its values."""
    if not isinstance(scope, FUNCTIONS):
        return True
    root = hop.name.partition(".")[0].partition("[")[0]
    return root not in declared_outer(scope) and bool(_bound_in(scope, root))


def rebinds(hop: Hop, scope: Scope) -> bool:
    """Whether an assignment to the name reaches what the next pass reads."""
    if "." in hop.name or "[" in hop.name or is_local(hop, scope):
        return True
    return hop.name in declared_outer(scope)


def is_seen(hop: Hop, at: Place, scope: Scope) -> bool:
    """Whether a frame sees the name: it is its own, or one of the module's or of a closure."""
    if hop.at.frame == at.frame:
        return True
    inner = at.function.startswith(f"{hop.at.function}.<locals>.")
    return (hop.at.function == "<module>" or inner) and not is_local(hop, scope)


def head_of_rerun(shared: Shared, project: Project) -> ast.stmt | None:
    """The first statement of the notebook's cell, if it was a second run of it that failed."""
    cell = shared.module.cell_at(shared.reached_line)
    if cell is None or cell.label not in project.rerun or shared.freed_line not in cell:
        return None
    return next((s for s in shared.module.tree.body if s.lineno in cell), None)


def wants_gradient(scope: Scope, name: str) -> bool:
    """Whether the scope takes a gradient by this name, or by one that is given its value, or reads
    its `.grad`: cut from its history, it must be a leaf that requires one."""
    asked = _asked_for(scope)
    names = {name}
    for _ in range(_ALIASES if asked else 0):
        names |= {other for known in names for other in _given_to(scope).get(known, ())}
    return bool(names & asked)


@remembered
def _asked_for(scope: ast.AST) -> set[str]:
    """What a scope takes gradients by."""
    found: set[str] = set()
    for node in walk_scope(scope):
        match node:
            case ast.Attribute(attr="grad" | "retain_grad", value=owner):
                found.add(spelled(owner))
            case ast.Call(args=[_, asked, *_]) if called_name(node) == "grad":
                each = asked.elts if isinstance(asked, ast.Tuple | ast.List) else [asked]
                found.update(map(spelled, each))
    return found


@remembered
def _given_to(scope: ast.AST) -> dict[str, set[str]]:
    """For each name that an assignment of the scope hands on as it is: to which names."""
    found: dict[str, set[str]] = {}
    for node in walk_scope(scope):
        for target, value in assigned_parts(node) if isinstance(node, ast.stmt) else ():
            if isinstance(value, ast.Name | ast.Attribute):
                found.setdefault(spelled(value), set()).add(spelled(target))
    return found
