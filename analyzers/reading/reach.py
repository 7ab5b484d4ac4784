"""Which functions of a project its entry may come to, by the names that stand in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from analyzers.source.project import FUNCTIONS, Project
from analyzers.source.trees import children, walk

_DEFINITIONS = (*FUNCTIONS[:2], ast.ClassDef)


def reached_names(project: Project, functions: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that the entry mentions, and those that their definitions in other files
    mention.

    `functions` are known to be reached: a traceback passes through them.
    """
    bodies: dict[str, list[ast.AST]] = {}
    waiting: list[str] = [name.rpartition(".")[2] for name in functions]
    for path, module in project.parsed.items():
        for node in module.nodes if path != project.entry else ():
            if isinstance(node, _DEFINITIONS):
                bodies.setdefault(node.name, []).append(node)
        outside = module.nodes if path == project.entry else _outside(module.tree)
        waiting += [name for node in outside for name in _named(node)]
    reached = set[str]()
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for body in bodies.pop(name, ()):
            waiting += [inner for node in walk(body) for inner in _named(node)]
    return frozenset(reached)


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a module that belong to no definition."""
    for child in children(node):
        if not isinstance(child, _DEFINITIONS):
            yield from walk(child)


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ImportFrom(names=names):
            yield from (alias.name for alias in names)
