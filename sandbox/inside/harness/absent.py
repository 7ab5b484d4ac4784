"""Imports that find nothing, removed from a script.

The names are then synthesized by their use, like all others that it does not define.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from .uses import names_of

MAX_READ = 1 << 18
_OWN = ("nn.Module", "backward(", "autograd")  # a module of the project that has these is not data


def without_absent(tree: ast.Module, folders: list[str]) -> ast.Module | None:
    """Return the script without imports of missing packages, and of names that an installed one
    does not have (any more); None if it has none.

    Packages in these folders are present; modules in them that read data by missing packages are
    not.
    """
    found = (
        (node, [] if any(_is_absent(n, folders) for n in _names(node)) else _had(node))
        for node in _imports(tree)
    )
    kept = {node.lineno: names for node, names in found if names is not None}
    if not kept:
        return None
    made = copy.deepcopy(tree)
    for node in ast.walk(made):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                block[:] = [_with(s, kept[s.lineno]) if _is_one(s, kept) else s for s in block]
    return made


def names_left_out(tree: ast.Module, rest: ast.Module) -> frozenset[str]:
    """Return the names that a script imports and the rest of it does not."""
    return frozenset(_bound(tree)) - frozenset(_bound(rest))


def _bound(tree: ast.Module) -> Iterator[str]:
    return (name for node in _imports(tree) for name in names_of(node))


def modules_named(tree: ast.Module) -> list[str]:
    """Return the modules that a script imports by their full names."""
    return [name for node in _imports(tree) for name in _names(node)]


def is_installed(top: str) -> bool:
    """Return True if a package is installed, and neither a part of the project nor a stub."""
    spec = importlib.util.find_spec(top)
    return spec is not None and "site-packages" in str(spec.origin)


def _had(node: ast.Import | ast.ImportFrom) -> list[ast.alias] | None:
    """Return those of an import's names that the installed module has; None if it has all."""
    if not isinstance(node, ast.ImportFrom) or not node.module or node.level:
        return None
    try:
        if not is_installed(node.module.partition(".")[0]):
            return None
        module = importlib.import_module(node.module)
    except Exception:  # the line itself says what is wrong
        return None
    had = [name for name in node.names if _has(module, name.name)]
    return had if len(had) < len(node.names) else None


def _has(module: ModuleType, name: str) -> bool:
    if name == "*" or hasattr(module, name):
        return True
    part = f"{module.__name__}.{name}"
    return hasattr(module, "__path__") and importlib.util.find_spec(part) is not None


def _is_one(node: ast.stmt, lines: Container[int]) -> TypeGuard[ast.Import | ast.ImportFrom]:
    return isinstance(node, ast.Import | ast.ImportFrom) and node.lineno in lines


def _with(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.stmt:
    """Return the import with these names alone."""
    made = (
        ast.ImportFrom(node.module, names, 0)
        if names and isinstance(node, ast.ImportFrom)
        else ast.Pass()
    )
    return ast.copy_location(made, node)


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the modules that an import names; relative ones are the project's own."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if node.module and not node.level else []


def _is_absent(name: str, folders: list[str], depth: int = 2) -> bool:
    path = _file_of(name, folders)
    if path is None:
        top = name.partition(".")[0]
        return _is_part_missing(name, folders) or not _is_here(top)
    text = path.read_bytes()[:MAX_READ].decode("utf-8", "replace")
    if not depth or any(mark in text for mark in _OWN):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(_is_absent(n, folders, depth - 1) for node in _imports(tree) for n in _names(node))


def _is_part_missing(name: str, folders: list[str]) -> bool:
    """Return True if a package of the project in these folders has no such part."""
    top, _, part = name.partition(".")
    homes = [Path(folder) for folder in folders if (Path(folder) / top).is_dir()]
    place = name.replace(".", os.sep)
    return bool(part and homes) and not any((home / place).is_dir() for home in homes)


def _is_here(top: str) -> bool:
    if top in sys.stdlib_module_names or top in sys.modules:
        return True
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return False


def _file_of(name: str, folders: list[str]) -> Path | None:
    """Return the project's file of a module, or None."""
    place = name.replace(".", os.sep)
    for folder in folders:
        for end in (".py", f"{os.sep}__init__.py"):
            if (path := Path(folder) / f"{place}{end}").is_file():
                return path
    return None
