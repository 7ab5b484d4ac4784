"""What a function calls the things that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.flow import names_bound
from analyzers.source.project import FUNCTIONS, Function, Scope


def parameters(function: Function) -> list[str]:
    """The parameters that a call fills by place, in order; not the object of a method."""
    return [name for name in positional(function) if name not in ("self", "cls")]


def positional(function: Function) -> list[str]:
    """The parameters that a call may give by place or by name, in order."""
    return [argument.arg for argument in function.args.args]


def named(function: Function) -> set[str]:
    """Every parameter, but for what takes the rest (`*args`, `**options`)."""
    given = function.args
    return {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}


def switches(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The options that are off unless a call says otherwise: `clear=False`."""
    given = function.args
    pairs = [
        *zip(given.args[len(given.args) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if isinstance(default, ast.Constant) and default.value is False:
            yield argument.arg


def own_names(scope: Scope) -> set[str]:
    """What a function calls its own: its parameters, and what it gives a value."""
    return named(scope) | names_bound(scope) if isinstance(scope, FUNCTIONS) else set()
