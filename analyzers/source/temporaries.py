"""Merge a temporary into its use: `made = f(x)` followed by `y = made`, with `made` read nowhere
else, becomes the statement `y = f(x)`.

The merged statement spans both lines, and its parts keep their positions. So the analyses and edits
need not know about names that only pass a value on.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from analyzers.source.next_loops import merge_next_loops
from analyzers.source.trees import below, end_of

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
    nodes = [tree, *below(tree)]
    naming = [node for node in nodes if type(node) in _NAMING]
    uses = Counter([node.id for node in naming if isinstance(node, ast.Name)])
    uses.update(name for node in naming if type(node) is not ast.Name for name in _named(node))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = [n for f in functions for n in [f, *below(f)]] if imported else nodes
    blocks = [node for node in own if type(node) in _BLOCKS]
    for node in reversed(blocks):  # inner ones first: a loop is made of its body as it is then
        for field in ("body", "orelse", "finalbody"):
            if block := getattr(node, field, None):
                block[:] = merge_next_loops(_joined(block, uses, handed_on), uses, handed_on)
    return handed_on


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
    block: list[ast.stmt], uses: Counter[str], handed_on: list[tuple[str, str]]
) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in block:
        match found[-1:], statement:
            case (
                [ast.Assign(targets=[ast.Name(id=name)], value=given) as made],
                ast.Assign(targets=[target], value=ast.Name(id=read)),
            ) if name == read and uses[name] == 2 and statement.lineno <= end_of(made)[0] + 1:
                both = ast.Assign([target], given)
                found[-1] = ast.copy_location(both, made)
                both.end_lineno, both.end_col_offset = end_of(statement)
                handed_on += _handed(name, target)
            case _:
                found.append(statement)
    return found
