"""Find entries that an object keeps under a key which the source spells, such
as optimizer state.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from analyzers.source.project import Module
from analyzers.source.targets import assigned_pairs

_ENTRY = re.compile(r"[\w.]+\.\w+\[.*\]\['(\w+)'\]")


def keys_of(paths: Iterable[str]) -> set[str]:
    """Return the keys of entries in an object's collections: `last` for `o.state[…]['last']`, which
    its methods know by other names.
    """
    return {found[1] for path in paths if (found := _ENTRY.fullmatch(path))}


def without_entries(paths: Iterable[str]) -> list[str]:
    """Return the paths that occur in the source as they are."""
    return [path for path in paths if not _ENTRY.fullmatch(path)]


def entries(module: Module, keys: set[str]) -> Iterator[ast.Subscript]:
    """Yield where the source reads or sets an entry under one of the keys."""
    for node in module.each(ast.Subscript):
        if isinstance(node.slice, ast.Constant) and node.slice.value in keys:
            yield node


def stores(module: Module, keys: set[str]) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yield the statements that set an entry under one of the keys, each with the value."""
    for statement in module.each(ast.Assign) if keys else ():
        for target, value in assigned_pairs(statement):
            if isinstance(target, ast.Subscript) and target in entries(module, keys):
                yield statement, value
