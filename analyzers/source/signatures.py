"""Read the parameters of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.flow import names_bound
from analyzers.source.project import FUNCTIONS, Function, Scope


def parameters(function: Function) -> list[str]:
    """Return the parameters that a call fills by position, in order, without `self` or `cls`."""
    return [name for name in positional(function) if name not in ("self", "cls")]


def positional(function: Function) -> list[str]:
    """Return the parameters that a call may pass by position or by name, in order."""
    return [argument.arg for argument in function.args.args]


def named(function: Function) -> set[str]:
    """Return every parameter except `*args` and `**options`."""
    given = function.args
    return {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def switches(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the options that are off unless a call sets them: `clear=False`."""
    for name, default in defaults(function).items():
        if isinstance(default, ast.Constant) and default.value is False:
            yield name


def defaults(function: Function) -> dict[str, ast.expr]:
    """Return the parameters that have a default, with its expression."""
    given = function.args
    taken = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(taken[len(taken) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {argument.arg: default for argument, default in pairs if default is not None}


def own_names(scope: Scope) -> set[str]:
    """Return the local names of a function: its parameters and what it binds."""
    return named(scope) | names_bound(scope) if isinstance(scope, FUNCTIONS) else set()
