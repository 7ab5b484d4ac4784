"""Names each random draw by its location, so that two versions of a script can draw alike.

A patch that repeats a forward pass draws once more than its original, and every later draw of a
common stream would shift. Here a draw's number follows from the iteration, the statement's target,
the function called there, and how often this very place drew in the iteration. Edits of arguments,
a copied statement and a moved one leave it unchanged; a loop that draws until it is content gets
new numbers.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from types import CodeType, FrameType

from ..core.frames import OWNERS, USER

REMEMBERED = 1 << 17  # places and iterations at most; beyond them counting restarts
_Span = tuple[int, int, int, int]


class RandomDraws:
    """Gives every draw a seed. `passes` returns the number of the present iteration."""

    def __init__(self, passes: Callable[[], int]) -> None:
        self._passes = passes
        self._drawn: Counter[tuple[object, ...]] = Counter()
        self._places: dict[tuple[CodeType, int], str] = {}
        self._sources: dict[str, _Source] = {}
        self._process = os.getpid()

    def seed(self, what: str) -> int:
        """Return the seed of the draw in progress; `what` names the drawing function."""
        path, place = self._path(sys._getframe(1))
        key = (self._passes(), what, path)
        if len(self._drawn) > REMEMBERED:
            self._drawn.clear()
        self._drawn[key] += 1
        worker = _worker() if os.getpid() != self._process else None
        named = (self._passes(), place, what, self._drawn[key], worker)
        return zlib.crc32(repr(named).encode())

    def _path(self, frame: FrameType | None) -> tuple[tuple[tuple[int, int], ...], str]:
        """Return the user's instructions that led here, innermost first, and the innermost name."""
        path: list[tuple[int, int]] = []
        place = ""
        while frame is not None:
            code = frame.f_code
            if OWNERS[code.co_filename] is USER:
                place = place or self._place(code, frame.f_lasti)
                path.append((id(code), frame.f_lasti))
            frame = frame.f_back
        return tuple(path), place

    def _place(self, code: CodeType, instruction: int) -> str:
        found = self._places.get((code, instruction))
        if found is None:
            found = self._places[code, instruction] = self._described(code, instruction)
        return found

    def _described(self, code: CodeType, instruction: int) -> str:
        """Describe a draw as `z = torch.randn #1`: the statement's target, the function, its
        count."""
        line, end, column, stop = next(islice(code.co_positions(), instruction // 2, None))
        source = self._sources.get(code.co_filename)
        if source is None:
            source = self._sources[code.co_filename] = _Source(code.co_filename)
        if line is None or end is None or column is None or stop is None:
            return code.co_name
        return source.calls.get((line, column, end, stop)) or code.co_name


class _Source:
    """What the calls of one file are called."""

    def __init__(self, filename: str) -> None:
        self.calls: dict[_Span, str] = {}
        try:
            tree = ast.parse("".join(linecache.getlines(filename)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for statement in ast.walk(tree):
            if isinstance(statement, ast.stmt):
                self._name_calls(statement)

    def _name_calls(self, statement: ast.stmt) -> None:
        target = _target(statement)
        counts: Counter[str] = Counter()
        for node in sorted(_expressions(statement), key=lambda e: (e.lineno, e.col_offset)):
            called = _callee(node.func if isinstance(node, ast.Call) else node)
            counts[called] += isinstance(node, ast.Call)
            span = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            self.calls[span] = f"{target} = {called} #{counts[called]}"


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield a statement's own expressions, without those of statements within it."""
    pending: list[ast.AST] = list(ast.iter_child_nodes(statement))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.expr):
            yield node
        pending.extend(ast.iter_child_nodes(node))


def _target(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[first, *_]):
            return _callee(first)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _callee(target)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return _callee(target)
    return ""


def _callee(node: ast.expr) -> str:
    """Return the expression without any arguments: they may be edited."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=value, attr=name):
                parts.append(name)
                node = value
            case ast.Call(func=node):
                parts.append("()")
            case ast.Subscript(value=node):
                parts.append("[]")
            case ast.Name(id=name):
                return ".".join([name, *reversed(parts)])
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                names = [e.id if isinstance(e, ast.Name) else "_" for e in elements]
                return ".".join([",".join(names), *reversed(parts)])
            case _:
                return ".".join([type(node).__name__, *reversed(parts)])


def _worker() -> int | None:
    """Return the number of the loader's worker that this process is, or None."""
    from torch.utils.data import get_worker_info

    info = get_worker_info()
    return info.id if info is not None else None
