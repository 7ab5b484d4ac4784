"""Read `walker = iter(xs)` and `while True:` around `x = next(walker)` as the statement `for x in
xs:`.

The merged statement spans all of these lines, and its parts keep their positions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from analyzers.source.trees import end_of


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
