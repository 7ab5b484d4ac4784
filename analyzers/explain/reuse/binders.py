"""Which statements give a carrier its value, in whatever function they stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Kind
from analyzers.explain.reuse.lifetimes import base
from analyzers.explain.reuse.passing import handed_down
from analyzers.explain.reuse.walks import Walks
from analyzers.explain.spots import hops_at
from analyzers.source.calls import calls_named
from analyzers.source.flow import (
    bindings,
    declared_outer,
    definitions,
    statements_of,
    value_of,
    walk_scope,
)
from analyzers.source.project import FUNCTIONS, Function, Module, Scope, spelled
from analyzers.source.signatures import named
from analyzers.source.trees import remembered, walk

Binder = tuple[Module, Scope, ast.stmt]


def binders_of(story: Walks) -> list[Binder]:
    """In the functions that have the carrier under a plain name, what binds it there; for a
    module's name, stores into it from any function; for an attribute, in any function."""
    found = [
        (module, scope, node)
        for module, scope, name in _homes(story)
        for node in definitions(scope, name)
    ]
    found += [b for b in _seen_storing(story) if b[2] not in [known[2] for known in found]]
    known = {id(binder[2]) for binder in found}
    holding = set(_holding(story))
    for module in story.project.modules.values():
        found += [
            (module, function, node)
            for function, node in _bound_in_functions(module.tree).get(
                story.attribute or story.name, ()
            )
            if id(node) not in known and _binds_elsewhere(story, function, node)
            if not holding or _is_of(holding, module, function, node, story.attribute)
        ]
    return found


def _holding(story: Walks) -> Iterator[str]:
    """The script's classes of which a run has seen objects hold the attribute, with their bases."""
    kinds = [hop.kind for hop in story.reuse.path] if story.attribute else []
    classes = {node.name: node for _, node in story.project.each(ast.ClassDef)}
    pending = [n for kind in kinds for n in _having(kind, story.attribute) if n in classes]
    for name in pending:
        bases = [spelled(base).rpartition(".")[2] for base in classes[name].bases]
        pending += [base for base in bases if base in classes and base not in pending]
    yield from pending


def _is_of(
    classes: set[str], module: Module, function: Function, statement: ast.stmt, attribute: str
) -> bool:
    """Whether what a statement binds may be the attribute of such an object: of its own, of any
    other's, or a name for what one is made with."""
    names, own = bindings(statement), module.class_of(statement)
    if f"self.{attribute}" in names:
        return own is not None and own.name in classes
    return attribute not in names or bool(calls_named(function, *classes))


def _having(kind: Kind, field: str) -> Iterator[str]:
    """The classes of objects in a value that have a field."""
    for key, part in kind.parts:
        if key == repr(field):
            yield kind.name
        yield from _having(part, field)


def _seen_storing(story: Walks) -> Iterator[Binder]:
    """Statements of other functions that were seen to put an old value into the carrier's
    container, under whatever name they know it."""
    path = story.reuse.path
    kept = [h for h in path if h.how == "outlived" and base(h.name) == story.name]
    for hop, where in hops_at(story.project, path, "bound") if kept and story.shared else ():
        same = hop.kind.kind == kept[0].kind.kind and set(hop.carries) & set(kept[0].carries)
        if same and isinstance(where.statement, ast.Expr):
            if hop.at.frame != kept[0].at.frame and hop.name in bindings(where.statement):
                yield where.module, where.scope, where.statement


def _homes(story: Walks) -> list[tuple[Module, Scope, str]]:
    """The functions that have the carrier under a plain name, with that name: the shared
    frame's; else those that hand it down, the one where it was found, the one that made it."""
    shared = story.shared
    if shared is None or not story.name:
        return []
    homes: list[tuple[Module, Scope, str]] = [(shared.module, shared.scope, story.name)]
    if story.attribute or definitions(shared.scope, story.name):
        return homes
    for caller, argument in handed_down(story.above, story.name):
        homes.append((caller.module, caller.scope, spelled(argument)))
    known = [scope for _, scope, _ in homes]
    held = [story.holder.scope] if story.holder is not None else []
    for name in dict.fromkeys((*held, story.carriers[0].place.function)):
        for module, scope in story.project.functions_by_name(name):
            homes += [(module, scope, story.name)] if scope not in known else []
    for module in story.project.modules.values():
        if shared.scope is not module.tree and definitions(module.tree, story.name):
            homes.append((module, module.tree, story.name))
    return homes


def _binds_elsewhere(story: Walks, function: ast.AST, statement: ast.stmt) -> bool:
    """Whether a statement of another function gives the carrier its value."""
    names, own = bindings(statement), story.attribute
    if own:
        seen = any(h.how == "bound" and h.name.endswith(f".{own}") for h in story.reuse.path)
        alike = own in names and not (seen or _names(statement, own))
        return alike or any(n.endswith("." + own) for n in names)
    if story.shared is None or story.name not in names:
        return False
    if story.name in declared_outer(function):
        return True
    if any(_is_own(scope, story.name) for scope in (story.shared.scope, function)):
        return False
    return any(n.startswith(story.name + "[") for n in names) or isinstance(statement, ast.Expr)


def _names(statement: ast.stmt, attribute: str) -> bool:
    """Whether a statement only gives a name to the attribute, or to a part of it."""
    value = value_of(statement)
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Attribute) and value.attr == attribute


def _is_own(scope: ast.AST, name: str) -> bool:
    """Whether a function has the name for itself: an argument, or a name that it gives a value."""
    if not isinstance(scope, FUNCTIONS):
        return False
    return name in named(scope) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk_scope(scope)
    )


@remembered
def _bound_in_functions(tree: ast.Module) -> dict[str, list[tuple[Function, ast.stmt]]]:
    """For the last part of each name or attribute path that a function binds: the function and
    the statement."""
    found: dict[str, list[tuple[Function, ast.stmt]]] = {}
    for function in walk(tree):
        if isinstance(function, FUNCTIONS[:2]):
            for node in statements_of(function):
                for last in {name.rpartition(".")[2] for name in bindings(node)}:
                    found.setdefault(last, []).append((function, node))
    return found
