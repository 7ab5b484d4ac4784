"""Find the names that a statement binds, and the values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.project import FUNCTIONS, Module, spelled

_OF_EACH = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


def target_names(target: ast.AST) -> Iterator[str]:
    """Yield every name or attribute path that an assignment target binds, as spelled."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from target_names(element)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)
    else:
        yield spelled(target)


def assigned(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds (assignment, loop target, with), as spelled."""
    match statement:
        case ast.Assign(targets=targets):
            return [name for target in targets for name in target_names(target)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return list(target_names(target))
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return list(target_names(target))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [
                name
                for item in items
                if item.optional_vars is not None
                for name in target_names(item.optional_vars)
            ]
    return []


def assigned_pairs(statement: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Return the targets of a plain assignment with their values: two pairs for `a, b = x, y`."""
    found: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            match target, statement.value:
                case ast.Tuple(elts=targets), ast.Tuple(elts=values):
                    if len(targets) == len(values):
                        found += zip(targets, values, strict=True)
                case _:
                    found.append((target, statement.value))
    return found


def each_taken(module: Module, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of the loops and comprehensions around an expression,
    each with its source.
    """
    for parent in module.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, _OF_EACH):
            for generator in parent.generators:
                yield from entry_sources(generator.target, generator.iter)
        elif isinstance(parent, ast.For):
            yield from entry_sources(parent.target, parent.iter)


def taken_by(loop: ast.For) -> list[tuple[ast.expr, ast.expr]]:
    """Return the source of each target of a loop."""
    return entry_sources(loop.target, loop.iter)


def entry_sources(target: ast.expr, source: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the source of each target: two pairs for `a, b in zip(xs, ys)`."""
    match target, source:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
            both = zip(targets, sources, strict=False)
            return [pair for t, s in both for pair in entry_sources(t, s)]
        case ast.Tuple(elts=[_, entry]), ast.Call(func=ast.Name(id="enumerate"), args=[held, *_]):
            return entry_sources(entry, held)
        case ast.Tuple(elts=[_, entry]), ast.Call(
            func=ast.Attribute(attr="named_parameters" | "items")
        ):
            return [(entry, source)]
    return [(target, source)]


def keyed(node: ast.AST) -> Iterator[tuple[object, ast.expr]]:
    """Yield keys and names with the values that a dictionary, a store under a key, a call or a
    signature gives them.
    """
    match node:
        case ast.Dict(keys=keys, values=values):
            yield from ((getattr(k, "value", None), v) for k, v in zip(keys, values, strict=True))
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key)), *_], value=value):
            yield key, value
        case ast.Call(keywords=keywords):
            yield from ((keyword.arg, keyword.value) for keyword in keywords)
        case ast.arguments(args=args, defaults=defaults) if defaults:
            yield from zip((a.arg for a in args[-len(defaults) :]), defaults, strict=True)
