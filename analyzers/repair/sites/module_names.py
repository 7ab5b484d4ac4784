"""Find the names by which a module can call what a fix needs, and the missing imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.repair.blocks import imported
from analyzers.repair.rewrite import unused_name
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import walk_scope
from analyzers.source.project import Module


def quote_of(module: Module) -> str:
    """Return the quote that the script uses for keys, or else for its other strings."""
    text = module.text
    keyed = text.count('["') - text.count("['")
    return '"' if (keyed or text.count('"') - text.count("'")) >= 0 else "'"


def replace_of(module: Module) -> str | None:
    """Return how the module names `dataclasses.replace`, once it imports something of
    `dataclasses`.
    """
    known = _known(module, "dataclasses", "replace")
    if known is not None:
        return known
    free = unused_name(module, "replace") == "replace" and not module.functions_named("replace")
    return "replace" if free and _from(module) else None


def deque_of(module: Module) -> str:
    """Return how the module names `collections.deque`; `deque` if it does not import it."""
    return _known(module, "collections", "deque") or "deque"


def with_imports(module: Module, needs: frozenset[str]) -> Iterator[Edit]:
    """Yield edits that import what was used and is not imported yet."""
    if "replace" in needs and _known(module, "dataclasses", "replace") is None:
        statement = _from(module)
        if statement is not None:
            yield Editor(module).append_to_names(statement, "replace")


def _known(module: Module, library: str, name: str) -> str | None:
    """Return the module's spelling of a library's `name`, if it imports one of the two."""
    owner = imported(module, library)
    through = f"{owner}.{name}" if owner is not None else None
    return imported(module, f"{library}.{name}") or through


def _from(module: Module) -> ast.ImportFrom | None:
    """Return the statement that imports names from `dataclasses`."""
    for node in walk_scope(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
            return node
    return None
