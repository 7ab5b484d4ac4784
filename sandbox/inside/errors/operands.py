"""The values that a failing expression names, read back from its frame."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from ..core.frames import activation, function_name
from ..core.value_names import Name


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


def _kind(node: ast.AST) -> str:
    return {ast.Attribute: "attribute", ast.Subscript: "item"}.get(type(node), "local")


def _expression(spot: Instruction) -> list[ast.AST]:
    """Return the smallest expression that the failing instruction belongs to, and its statement."""
    code = spot.frame.f_code
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    span = _span(spot)
    covering = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.stmt) and _covers(node, span)
    ]
    statements = [node for node in covering if isinstance(node, ast.stmt)]
    simple = [node for node in statements[-1:] if not hasattr(node, "body")]
    return [*covering[-1:], *simple]


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


def _value(node: ast.AST, names: dict[str, Any]) -> tuple[bool, Any]:
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
