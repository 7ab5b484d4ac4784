"""Answer questions about sequences of statements: what they bind, read and depend on, and what
surrounds one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set

from analyzers.source.flow import bindings, bound_within, names_read, value_of
from analyzers.source.project import Module


def bound_by(statements: Iterable[ast.AST]) -> set[str]:
    """Return what the statements, or those within them, bind."""
    return {name for statement in statements for name in bound_within(statement)}


def read_by(statements: Iterable[ast.AST]) -> set[str]:
    """Return what the statements read."""
    return {name for statement in statements for name in names_read(statement)}


def statements_after(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """Return what follows a statement in its block."""
    block = module.block_of(statement)
    return block[block.index(statement) + 1 :]


def ahead_of(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """Return what precedes a statement in its block."""
    block = module.block_of(statement)
    return block[: block.index(statement)]


def first_reading(statements: Iterable[ast.stmt], names: Set[str]) -> ast.stmt | None:
    """Return the first of the statements that reads one of the names."""
    return next((s for s in statements if names_read(s) & names), None)


def computing(statements: Sequence[ast.stmt], names: Set[str]) -> list[ast.stmt]:
    """Return those of the statements that compute the names, in order."""
    wanted, found = set(names), list[ast.stmt]()
    for statement in reversed(statements):
        value = value_of(statement)
        if value is not None and set(bindings(statement)) & wanted:
            found = [statement, *found]
            wanted |= names_read(value)
    return found


def names_feeding(statements: Sequence[ast.stmt], names: Set[str]) -> set[str]:
    """Return the names, and those from which the statements compute them."""
    return {*names, *read_by(v for s in computing(statements, names) if (v := value_of(s)))}
