"""The values that an expression names, read back from its frame."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

import torch

from .frames import activation, function_name, local_values
from .value_names import Name

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Instruction:
    """An instruction of a frame: where it stands, or where an exception passed through it."""

    frame: FrameType
    instruction: int
    line: int

    @classmethod
    def of_frame(cls, frame: FrameType) -> Instruction:
        return cls(frame, frame.f_lasti, frame.f_lineno or 0)

    @classmethod
    def of_entry(cls, entry: TracebackType) -> Instruction:
        return cls(entry.tb_frame, entry.tb_lasti, entry.tb_lineno)


def operands(spot: Instruction, *, around: bool = True) -> Iterator[tuple[Name, Any]]:
    """Yield every name, attribute or item in the failing expression, with its value.

    Those in the statement `around` it follow. Nothing is called: names are looked up, attributes
    read, keys that are plain indexed.
    """
    frame = spot.frame
    scope, number = function_name(frame.f_code), activation(frame).number
    seen: set[str] = set()
    for node in _expression(spot)[: None if around else 1]:
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
                if ast.unparse(part) in seen:
                    continue
                seen.add(ast.unparse(part))
                found, value = _value(part, {**frame.f_globals, **frame.f_locals})
                if found:
                    yield Name(scope, ast.unparse(part), _kind(part), number), value


def numbers_added(frame: FrameType) -> Iterator[tuple[float, range]]:
    """Yield the numbers from which a term of the sum that a frame computes is made, if that is all
    it names: `penalty` of `loss + 0.1 * penalty`. Each comes with the lines that assigned it.
    """
    for node in _expression(Instruction.of_frame(frame))[:1]:
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                terms = [left, right]
            case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
                terms = [value]
            case _:
                return
        names = ChainMap(dict(local_values(frame)), frame.f_globals)
        for term in terms:
            values = list(_named(term, names))
            if values and all(isinstance(value, float | int) for value in values):
                made = _assigned(term, frame)
                yield from ((float(value), made) for value in values)


def _assigned(term: ast.AST, frame: FrameType) -> range:
    """Return the lines of the last assignment before this line, in the same function, to the only
    name of a term."""
    names = {node.id for node in ast.walk(term) if isinstance(node, ast.Name)}
    code, here = frame.f_code, frame.f_lineno or 0
    nodes = _nodes("".join(linecache.getlines(code.co_filename)))
    lines = (range(n.lineno, (n.end_lineno or 0) + 1) for n in nodes if isinstance(n, _SCOPES))
    others = [scope for scope in lines if here not in scope]
    made = [
        node
        for node in nodes
        if isinstance(node, ast.Assign) and code.co_firstlineno <= node.lineno < here
        if not any(node.lineno in scope for scope in others)
        if [target.id for target in node.targets if isinstance(target, ast.Name)] == [*names]
    ]
    last = max(made, key=lambda node: node.lineno, default=None)
    return range(last.lineno, (last.end_lineno or 0) + 1) if last is not None else range(0)


def _named(node: ast.AST, names: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of the outermost names, attributes and items that can be looked up; of a
    tensor that leaves torch there (`norm.item()`), its number.
    """
    match node:
        case (
            ast.Call(func=ast.Attribute(value=holder, attr="item"), args=[])
            | ast.Call(func=ast.Name(id="float"), args=[holder])
        ):
            for value in _named(holder, names):
                whole = isinstance(value, torch.Tensor) and value.numel() == 1
                yield value.detach().item() if whole else value
            return
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        found, value = _value(node, names)
        if found:
            yield value
        return
    for child in ast.iter_child_nodes(node):
        yield from _named(child, names)


def _kind(node: ast.AST) -> str:
    return {ast.Attribute: "attribute", ast.Subscript: "item"}.get(type(node), "local")


def _expression(spot: Instruction) -> list[ast.AST]:
    """Return the smallest expression that the failing instruction belongs to, and its statement."""
    span = _span(spot)
    text = "".join(linecache.getlines(spot.frame.f_code.co_filename))
    covering = [node for node in _nodes(text) if _covers(node, span)]
    statements = [node for node in covering if isinstance(node, ast.stmt)]
    simple = [node for node in statements[-1:] if not hasattr(node, "body")]
    return [*covering[-1:], *simple]


@lru_cache(maxsize=8)
def _nodes(text: str) -> list[ast.expr | ast.stmt]:
    """Return the expressions and statements of a source, outer ones first."""
    try:
        found = ast.walk(ast.parse(text))
        return [node for node in found if isinstance(node, ast.expr | ast.stmt)]
    except (SyntaxError, ValueError, RecursionError):
        return []


def _span(spot: Instruction) -> tuple[int, int, int, int]:
    """Return the first line, last line, first column, last column of the failing instruction."""
    positions = getattr(spot.frame.f_code, "co_positions", None)
    if positions is not None:
        found = next(islice(positions(), spot.instruction // 2, None), None)
        if found is not None and None not in found:
            return found  # type: ignore[no-any-return]
    return spot.line, spot.line, 0, 0


def _covers(node: ast.expr | ast.stmt, span: tuple[int, int, int, int]) -> bool:
    first, last, begin, end = span
    starts = (node.lineno, node.col_offset) <= (first, begin) or (begin == 0 == end)
    stops = (node.end_lineno or 0, node.end_col_offset or 0) >= (last, end)
    return node.lineno <= first and starts and stops


def _value(node: ast.AST, names: Mapping[str, Any]) -> tuple[bool, Any]:
    """Return whether the expression could be looked up, and its value."""
    if isinstance(node, ast.Name):
        return node.id in names, names.get(node.id)
    if isinstance(node, ast.Attribute):
        known, owner = _value(node.value, names)
        return _look(known, lambda: getattr(owner, node.attr))
    if isinstance(node, ast.Subscript):
        known, owner = _value(node.value, names)
        if isinstance(node.slice, ast.Name | ast.Attribute):
            found, key = _value(node.slice, names)
        else:
            found, key = isinstance(node.slice, ast.Constant), getattr(node.slice, "value", None)
        plain = isinstance(owner, list | tuple | dict)
        return _look(known and found and plain, lambda: owner[key])
    return False, None


def _look(possible: bool, read: Any) -> tuple[bool, Any]:
    if not possible:
        return False, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading `.grad` of a non-leaf
            return True, read()
    except Exception:  # a property or a key of the script's own: not a value to be had
        return False, None
