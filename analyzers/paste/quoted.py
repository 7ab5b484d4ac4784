"""Statements that the words around the code quote: `net = nn.Sequential(...)`, in backquotes."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from analyzers.paste.parsing import statement

_QUOTED = re.compile(r"(?<!`)`([^`\n]{3,300})`(?!`)")


def with_quoted(python: str, text: str) -> str:
    """The code with what the words of its text say of names that it uses and does not bind: each
    on an empty line ahead of where that is used, behind what it is made of itself."""
    rows = python.splitlines(keepends=True)
    words = text.splitlines()
    said = [
        found
        for at, line in enumerate(words)
        if at < len(rows) and not rows[at].strip()
        for found in _QUOTED.findall(line)
    ]
    for quoted in said:
        tree = ast.parse("".join(rows))
        made = _made_by(quoted, tree)
        row = _place(tree, made, rows) if made is not None else None
        if row is not None:
            rows[row] = quoted.strip() + rows[row]
    return "".join(rows)


def _made_by(quoted: str, tree: ast.Module) -> ast.Assign | None:
    """The statement, if it makes a name that the code uses and does not bind."""
    match statement(quoted.strip()):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) as made:
            of_itself = name in _loaded(value) or isinstance(value, ast.Name | ast.Attribute)
            free = _loaded(tree) - _bound(tree) - set(dir(builtins))
            return made if name in free and not of_itself else None
    return None


def _place(tree: ast.Module, made: ast.Assign, rows: list[str]) -> int | None:
    """The index of the last empty line at the top level ahead of what uses the name."""
    (name,) = _bound(made)
    defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    uses = [s for s in tree.body if name in _loaded(s) and not isinstance(s, defined)]
    needs = _loaded(made.value)
    last = max((s.end_lineno or 0 for s in tree.body if needs & _bound(s)), default=0)
    first = min((s.lineno for s in uses), default=len(rows) + 1)
    taken = {n for s in tree.body for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    empty = [n for n in range(last + 1, first) if n not in taken and not rows[n - 1].strip()]
    return empty[-1] - 1 if empty else None


def _loaded(node: ast.AST) -> set[str]:
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _bound(node: ast.AST) -> set[str]:
    return set(_binding(node))


def _binding(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield (asname or name).partition(".")[0]
