"""Entries of what an object keeps, under a key that the text spells: of an optimizer's state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from analyzers.source.project import Module
from analyzers.source.targets import assigned_pairs

_ENTRY = re.compile(r"[\w.]+\.\w+\[.*\]\['(\w+)'\]")


def keys_of(paths: Iterable[str]) -> set[str]:
    """The keys under which entries of an object's collections are: `last` of `o.state[…]['last']`,
    which its methods know by other names."""
    return {found[1] for path in paths if (found := _ENTRY.fullmatch(path))}


def without_entries(paths: Iterable[str]) -> list[str]:
    """The paths that the text spells as they are."""
    return [path for path in paths if not _ENTRY.fullmatch(path)]


def entries(module: Module, keys: set[str]) -> Iterator[ast.Subscript]:
    """Where the text takes, or sets, what is under one of the keys."""
    for node in module.each(ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value in keys:
            yield node


def stores(module: Module, keys: set[str]) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The statements that set what is under one of the keys, each with the value."""
    for statement in module.each(ast.Assign) if keys else ():
        for target, value in assigned_pairs(statement):
            if isinstance(target, ast.Subscript) and target in entries(module, keys):
                yield statement, value
