"""Merge a temporary into its use: `made = f(x)` followed by `y = made`, with `made` read nowhere
else, becomes the statement `y = f(x)`.

The merged statement spans both lines, and its parts keep their positions. So the analyses and edits
need not know about names that only pass a value on.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

from analyzers.source.next_loops import merge_next_loops
from analyzers.source.trees import below, end_of, statements

_NAMING = frozenset(
    {ast.Name, ast.arg, ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}
    | {ast.MatchAs, ast.MatchStar, ast.alias, ast.Global, ast.Nonlocal}
)
_BLOCKS = frozenset(
    {ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.For, ast.AsyncFor, ast.While, ast.If}
    | {ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.ExceptHandler, ast.match_case}
)


def join_handed_on(tree: ast.Module, imported: bool) -> list[tuple[str, str]]:
    """Merge each such pair and each such loop, and return each removed name with the one that
    replaces it. Names that other code may read stay: attributes, names in a class's body, and
    global names of a file that others import.
    """
    handed_on: list[tuple[str, str]] = []
    uses = _counting(tree)
    nodes = statements(tree)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = [node for f in functions for node in statements(f)] if imported else nodes
    blocks = [node for node in own if type(node) in _BLOCKS]
    for node in reversed(blocks):  # inner ones first: a loop is made of its body as it is then
        for field in ("body", "orelse", "finalbody"):
            if block := getattr(node, field, None):
                block[:] = merge_next_loops(_joined(block, uses, handed_on), uses, handed_on)
    return handed_on


def _counting(tree: ast.Module) -> Callable[[str], int]:
    """Return how often a name occurs: counted when it is first asked, before anything is merged."""

    @cache
    def counted() -> Counter[str]:
        naming = [node for node in [tree, *below(tree)] if type(node) in _NAMING]
        found = Counter([node.id for node in naming if isinstance(node, ast.Name)])
        found.update(n for node in naming if type(node) is not ast.Name for n in _named(node))
        return found

    return lambda name: counted()[name]


def _named(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node, itself no name, binds or declares."""
    match node:
        case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names


def _handed(name: str, target: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield the replacement of a name, or of each part of what it holds."""
    match target:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield name, ast.unparse(target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for number, part in enumerate(parts):
                if isinstance(part, ast.Starred):
                    return
                yield from _handed(f"{name}[{number}]", part)


def _joined(
    block: list[ast.stmt], uses: Callable[[str], int], handed_on: list[tuple[str, str]]
) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in block:
        match statement:
            case ast.Assign(targets=[target], value=ast.Name(id=read)) if found:
                made = found[-1]
                given = _given_to(read, made)
                if (
                    given is not None
                    and uses(read) == 2
                    and statement.lineno <= end_of(made)[0] + 1
                ):
                    both = ast.Assign([target], given)
                    found[-1] = ast.copy_location(both, made)
                    both.end_lineno, both.end_col_offset = end_of(statement)
                    handed_on += _handed(read, target)
                    continue
        found.append(statement)
    return found


def _given_to(name: str, made: ast.stmt) -> ast.expr | None:
    """Return what a statement assigns to a name alone."""
    match made:
        case ast.Assign(targets=[ast.Name(id=other)], value=given) if other == name:
            return given
    return None
