"""Scripts whose names are others: two of the ways of `benchmarks.rewritings`."""

from __future__ import annotations

import ast
import builtins
import zlib

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
IMPORTS = (ast.Import, ast.ImportFrom)


def bound(scope: ast.AST) -> set[str]:
    """The names that a scope itself binds as variables or parameters."""
    names: set[str] = set()
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
                continue
        if not isinstance(node, (*SCOPES, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    declared = {n for s in ast.walk(scope) if isinstance(s, ast.Global) for n in s.names}
    return names - declared if not isinstance(scope, ast.Module) else names


def kept_words(tree: ast.Module) -> set[str]:
    """What must keep its name: keywords of calls, names of classes' bodies, imports, `__all__`;
    and what Python's own style guide says that everybody calls `self` and `cls`."""
    kept = {*dir(builtins), "self", "cls"}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
        elif isinstance(node, ast.ClassDef):
            kept |= bound(node)
        elif isinstance(node, ast.alias):
            kept.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            kept.add(node.name)
    return kept


def names(tree: ast.Module) -> ast.Module:
    """Every variable, parameter, function and class called something else."""
    kept = kept_words(tree)
    scopes = [tree, *(n for n in ast.walk(tree) if isinstance(n, SCOPES))]
    wanted = sorted({n for s in scopes for n in bound(s)} - kept)
    new = {name: f"v{zlib.crc32(name.encode())}" for name in wanted if name[:2] != "__"}
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                node.id = new.get(node.id, node.id)
            case ast.arg():
                node.arg = new.get(node.arg, node.arg)
            case ast.FunctionDef() | ast.ClassDef() if node.name not in kept:
                node.name = new.get(node.name, node.name)
            case ast.Global() | ast.Nonlocal():
                node.names = [new.get(name, name) for name in node.names]
    return tree


_ALIASES = {"torch": "th", "nn": "tnn", "F": "fn", "np": "num", "optim": "opts"}


def aliases(tree: ast.Module) -> ast.Module:
    """`torch as th`, `nn as tnn`, `F as fn`, `np as num`."""
    new: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, IMPORTS):
            for item in node.names:
                name = item.asname or item.name
                if name in _ALIASES:
                    item.asname = new[name] = _ALIASES[name]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
    return tree
