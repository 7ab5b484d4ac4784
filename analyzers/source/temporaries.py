"""Merge a temporary into its use: `made = f(x)` followed by `y = made`, with `made` read nowhere
else, becomes the statement `y = f(x)`. In the same way, `walker = iter(xs)` and `while True:`
around `x = next(walker)` become `for x in xs:`.

The merged statement spans all these lines, and its parts keep their positions. So the analyses and
edits need not know about names that only pass a value on.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

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


def merge_next_loops(
    block: Sequence[ast.stmt], uses: Callable[[str], int], handed_on: list[tuple[str, str]]
) -> list[ast.stmt]:
    """Return a block with such loops merged, if nothing else uses the iterator. Names that only
    pass its parts on are added to `handed_on`.
    """
    found: list[ast.stmt] = []
    for statement in block:
        match statement:
            case ast.While(test=ast.Constant(value=True | 1), orelse=[]) as loop if found:
                match found[-1]:
                    case ast.Assign(targets=[ast.Name(id=iterator)], value=given) as begun if (
                        uses(iterator) == 2 and (asked := _asked(loop.body, iterator)) is not None
                    ):
                        found[-1] = _as_for(begun, given, loop, asked, uses, handed_on)
                        continue
        found.append(statement)
    return found


def _asked(body: Sequence[ast.stmt], iterator: str) -> tuple[ast.expr, int] | None:
    """Return the target that receives the next part at the start of each iteration, which ends the
    loop if there is none; and how many statements that takes.
    """
    match body:
        case [
            ast.Assign(targets=[ast.Name() as part], value=ast.Call() as call),
            ast.If(test=ast.Compare() as test, body=[ast.Break()], orelse=[]),
            _,
            *_,
        ]:
            ends = _parted(call, iterator)
            is_end = len(ends) == 2 and ast.unparse(test) == f"{part.id} is {ast.unparse(ends[1])}"
            return (part, 2) if is_end else None
        case [
            ast.Try(
                body=[ast.Assign(targets=[target], value=ast.Call() as call)],
                handlers=[ast.ExceptHandler(type=ast.Name(id="StopIteration"), body=[ast.Break()])],
                orelse=[],
                finalbody=[],
            ),
            _,
            *_,
        ]:
            return (target, 1) if len(_parted(call, iterator)) == 1 else None
    return None


def _parted(call: ast.Call, iterator: str) -> list[ast.expr]:
    """Return the arguments of `next(walker, ...)`; empty for any other call."""
    match call:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name), *_], keywords=[]):
            return call.args if name == iterator else []
    return []


def _as_for(
    begun: ast.Assign,
    given: ast.expr,
    loop: ast.While,
    asked: tuple[ast.expr, int],
    uses: Callable[[str], int],
    handed_on: list[tuple[str, str]],
) -> ast.For:
    """Return the `for` loop over what the iterator was made from."""
    target, first = asked
    match given:
        case ast.Call(func=ast.Name(id="iter"), args=[over], keywords=[]):
            given = over
    match target, loop.body[first:]:
        case (
            ast.Name(id=part),
            [ast.Assign(targets=[other], value=ast.Name(id=read)), _, *_],
        ) if part == read and uses(part) == first + 1:
            target, first = other, first + 1
            if not isinstance(other, ast.Tuple | ast.List):
                handed_on.append((part, ast.unparse(other)))
    made = ast.For(target, given, loop.body[first:], [])
    ast.copy_location(made, begun)
    made.end_lineno, made.end_col_offset = end_of(loop)
    return made
