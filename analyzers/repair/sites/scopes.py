"""Decide which frames know a binding's name, when it has a value, and whether an assignment reaches
it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.explain.reuse.shared_frame import Shared
from analyzers.explain.source_locations import root_name
from analyzers.source.backward import backward_calls
from analyzers.source.callees import is_call
from analyzers.source.flow import bound_within, declared_outer, first_use, walk_scope
from analyzers.source.project import FUNCTIONS, Loop, Module, Project, Scope, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import remembered, walk
from analyzers.source.writes import writes
from provenance import Binding, CodeLine

_ALIASES = 3  # assignments by which a value goes from name to name


def last_backward_or_step(module: Module, backward: ast.stmt) -> ast.stmt:
    """Return the last statement of the same block, from this one on, that
    calls backward or steps.
    """
    block = module.block_of(backward)
    last = backward
    for statement in block[block.index(backward) :] if backward in block else []:
        stepped = isinstance(statement, ast.Expr) and attributes_loaded(walk(statement), "step")
        if stepped or backward_calls(statement):
            last = statement
    return last


def goes_on(binding: Binding, block: list[ast.stmt]) -> bool:
    """Return True if the next iteration reads the name before it rebinds it."""
    return "." in binding.name or first_use(block, binding.name.partition("[")[0]) == "read"


def covers(statement: ast.stmt, line: int) -> bool:
    """Return True if a statement covers the line."""
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def unbound_at(loop: Loop, scope: Scope, name: str) -> bool:
    """Return True if the first iteration may reach the head of the loop
    before the name is bound.
    """
    stored = _bound_in(scope, root_name(name))
    return bool(stored) and stored <= set(walk(loop))


def bound_outside(loop: Loop, scope: Scope, name: str) -> bool:
    """Return True if a plain name of the scope is bound only before the loop."""
    stored, inside = _bound_in(scope, name), walk(loop)
    written = {w.name for s in inside if isinstance(s, ast.stmt) for w in writes(s)}
    return bool(stored) and name not in bound_within(loop) | written and stored.isdisjoint(inside)


def _bound_in(scope: Scope, name: str) -> set[ast.AST]:
    """Return where a scope, or a function in it, binds a plain name."""
    return _binding_nodes(scope).get(name, set())


@remembered
def _binding_nodes(scope: Scope) -> dict[str, set[ast.AST]]:
    found: dict[str, set[ast.AST]] = {}
    for node in walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.setdefault(name, set()).add(node)
    return found


def guarded(lines: list[str], bindings: Sequence[Binding], step: str) -> list[str]:
    """Return the lines under `if x is not None:` if the first iteration finds None."""
    missing = [binding.name for binding in bindings if binding.none_before]
    if not missing:
        return lines
    asked = " and ".join(f"{name} is not None" for name in missing)
    return [f"if {asked}:", *(f"{step}{line}" for line in lines)]


def is_local(binding: Binding, scope: Scope) -> bool:
    """Return True if the function itself binds the name."""
    root = root_name(binding.name)
    own = root not in declared_outer(scope) and bool(_bound_in(scope, root))
    return own or not isinstance(scope, FUNCTIONS)


def rebinds(binding: Binding, scope: Scope) -> bool:
    """Return True if an assignment to the name reaches what the next iteration reads."""
    plain = binding.name == root_name(binding.name)
    return not plain or is_local(binding, scope) or binding.name in declared_outer(scope)


def is_seen(binding: Binding, at: CodeLine, scope: Scope) -> bool:
    """Return True if a frame sees the name: its own, the module's or a closure's."""
    if binding.at.frame == at.frame:
        return True
    inner = at.function.startswith(f"{binding.at.function}.<locals>.")
    return (binding.at.function == "<module>" or inner) and not is_local(binding, scope)


def head_of_rerun(shared: Shared, project: Project) -> ast.stmt | None:
    """Return the first statement of the notebook's cell, if its second run failed."""
    cell = shared.module.cell_at(shared.reached_line)
    again = cell is not None and cell.label in project.rerun and shared.freed_line in cell
    found = (s for s in shared.module.tree.body if cell is not None and again and s.lineno in cell)
    return next(found, None)


def wants_gradient(scope: Scope, name: str) -> bool:
    """Return True if the scope takes a gradient by this name or an alias of it, or reads its
    `.grad`: after a cut, it must be a leaf that requires a gradient.
    """
    asked = _asked_for(scope)
    names = {name}
    for _ in range(_ALIASES if asked else 0):
        names |= {other for known in names for other in _given_to(scope).get(known, ())}
    return bool(names & asked)


@remembered
def _asked_for(scope: ast.AST) -> set[str]:
    """Return the names by which a scope takes gradients."""
    found: set[str] = set()
    for node in walk_scope(scope):
        match node:
            case ast.Attribute(attr="grad" | "retain_grad", value=owner):
                found.add(spelled(owner))
            case ast.Call(args=[_, asked, *_]) if is_call(node, "torch.autograd.grad"):
                found.update(map(spelled, getattr(asked, "elts", [_whole(asked)])))
    return found


def _whole(values: ast.expr) -> ast.expr:
    """Return what a list is built from, or whose values it contains: `w` for `list(w.values())`."""
    match values:
        case ast.Call(args=[inner]) if is_call(values, "builtins.list", "builtins.tuple"):
            return _whole(inner)
        case ast.Call(func=ast.Attribute(value=inner), args=[]) if is_call(values, "list.values"):
            return inner
    return values


@remembered
def _given_to(scope: ast.AST) -> dict[str, set[str]]:
    """Return, for each name that an assignment of the scope passes on unchanged, its new names."""
    found: dict[str, set[str]] = {}
    for node in walk_scope(scope):
        for target, value in assigned_pairs(node):
            if isinstance(value, ast.Name | ast.Attribute):
                found.setdefault(spelled(value), set()).add(spelled(target))
    return found
