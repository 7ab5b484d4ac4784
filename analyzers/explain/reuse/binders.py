"""Find the statements that bind a carrier, in whatever function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.reuse.backward_pair import BackwardPair
from analyzers.explain.reuse.carrier_paths import base
from analyzers.explain.reuse.passing import handed_down
from analyzers.explain.source_locations import hops_at
from analyzers.source.calls import own_calls
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
from analyzers.source.trees import remembered, walk, whole
from provenance import ValueShape

Binder = tuple[Module, Scope, ast.stmt]


def binders_of(story: BackwardPair) -> list[Binder]:
    """Return the statements that bind the carrier: for a plain name, in the functions that have it;
    for a module's name or an attribute, in any function.
    """
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


def _holding(story: BackwardPair) -> Iterator[str]:
    """Yield the script's classes whose objects a run saw hold the attribute, and their bases."""
    kinds = [binding.kind for binding in story.reuse.path] if story.attribute else []
    classes = {node.name: node for _, node in story.project.each(ast.ClassDef)}
    pending = [n for kind in kinds for n in _having(kind, story.attribute) if n in classes]
    for name in pending:
        bases = [spelled(base).rpartition(".")[2] for base in classes[name].bases]
        pending += [base for base in bases if base in classes and base not in pending]
    yield from pending


def _is_of(
    classes: set[str], module: Module, function: Function, statement: ast.stmt, attribute: str
) -> bool:
    """Return True if a statement may bind the attribute of such an object: through `self`, through
    another name, or as a constructor argument.
    """
    names, own = bindings(statement), module.class_of(statement)
    if f"self.{attribute}" in names:
        return own is not None and own.name in classes
    return attribute not in names or bool(own_calls(function, *classes))


def _having(kind: ValueShape, field: str) -> Iterator[str]:
    """Yield the classes of objects within a value that have a field."""
    for key, part in kind.items():
        if key == repr(field):
            yield kind.name
        yield from _having(part, field)


def _seen_storing(story: BackwardPair) -> Iterator[Binder]:
    """Yield statements of other functions that were seen to put an old value into the carrier's
    container, whatever they call it.
    """
    path = story.reuse.path
    kept = [h for h in path if h.how == "outlived" and base(h.name) == story.name]
    for binding, where in hops_at(story.project, path, "bound") if kept and story.shared else ():
        same = binding.kind.kind == kept[0].kind.kind and set(binding.carries) & set(
            kept[0].carries
        )
        if same and isinstance(where.statement, ast.Expr):
            if binding.at.frame != kept[0].at.frame and binding.name in bindings(where.statement):
                yield where.module, where.scope, where.statement


def _homes(story: BackwardPair) -> list[tuple[Module, Scope, str]]:
    """Return the functions that have the carrier under a plain name, with that name: the shared
    frame's function; else its callers that pass it down, the one where it was found, the one that
    made it.
    """
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


def _binds_elsewhere(story: BackwardPair, function: ast.AST, statement: ast.stmt) -> bool:
    """Return True if a statement of another function binds the carrier."""
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
    """Return True if a statement only names the attribute or a part of it."""
    value = value_of(statement)
    base = whole(value) if value is not None else None
    return isinstance(base, ast.Attribute) and base.attr == attribute


def _is_own(scope: ast.AST, name: str) -> bool:
    """Return True if the name is local to a function: a parameter or a name that it binds."""
    if not isinstance(scope, FUNCTIONS):
        return False
    return name in named(scope) or any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk_scope(scope)
    )


@remembered
def _bound_in_functions(tree: ast.Module) -> dict[str, list[tuple[Function, ast.stmt]]]:
    """Return, by the last part of each name or attribute path that a function binds, the functions
    and statements.
    """
    found: dict[str, list[tuple[Function, ast.stmt]]] = {}
    for function in walk(tree):
        if isinstance(function, FUNCTIONS[:2]):
            for node in statements_of(function):
                for last in {name.rpartition(".")[2] for name in bindings(node)}:
                    found.setdefault(last, []).append((function, node))
    return found
