"""`torch.tensor([[c, -s], [s, c]])` with its graph: each row that is written out is a stack too."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from analyzers.repair.blocks import alias, joined, text_with
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import is_dotted
from analyzers.source.project import Scope, spelled

Uncutting = Callable[[ast.expr], Iterable[Edit]]
Rows = ast.List | ast.Tuple | ast.ListComp


def restacked(editor: Editor, rows: Rows, uncut: Uncutting, like: str | None = None) -> str:
    """A sequence that is written out as a stack, in whatever depth. `uncut` gives the edits by
    which an entry keeps its graph; a number among tensors becomes a tensor like them."""
    edits: list[Edit] = []
    like = next(_named(rows), like)
    for entry in _entries(rows):
        if isinstance(entry, Rows):
            edits.append(editor.replace(entry, restacked(editor, entry, uncut, like)))
        elif (value := _number(entry)) is not None:
            edits.append(editor.replace(entry, _as_tensor(editor, value, like)))
        else:
            edits += uncut(entry)
    return f"{alias(editor.module, 'torch')}.stack({text_with(editor, rows, joined(edits))})"


def bounds_as_tensors(editor: Editor, scope: Scope, name: str) -> Iterator[Edit]:
    """What a list gets by Python's `max` or `min` may be a plain number: `max(x, 0.0)` becomes
    `torch.clamp(x, min=0.0)`, as its stack needs it."""
    for call in calls_named(scope, "append"):
        match call:
            case ast.Call(
                func=ast.Attribute(value=owner),
                args=[ast.Call(func=ast.Name(id="max" | "min" as bound), args=[a, b]) as given],
            ) if spelled(owner) == name:
                for value, limit in ((a, b), (b, a)):
                    if _number(limit) is not None and _number(value) is None:
                        side = "min" if bound == "max" else "max"
                        text = f"{editor.text_of(value)}, {side}={editor.text_of(limit)}"
                        torch = alias(editor.module, "torch")
                        yield editor.replace(given, f"{torch}.clamp({text})")


def _entries(rows: Rows) -> list[ast.expr]:
    return [rows.elt] if isinstance(rows, ast.ListComp) else rows.elts


def _named(rows: Rows) -> Iterator[str]:
    """Entries that are plain names, those in rows of their own too: `c` of `[c, -s]`."""
    for entry in _entries(rows):
        inner = entry.operand if isinstance(entry, ast.UnaryOp) else entry
        if isinstance(inner, Rows) and not isinstance(inner, ast.ListComp):
            yield from _named(inner)
        elif is_dotted(inner) and not isinstance(rows, ast.ListComp):
            yield spelled(inner)


def _number(entry: ast.expr) -> float | None:
    """The number that an entry writes out."""
    match entry:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Constant(value=int() | float() as value):
            return value
    return None


def _as_tensor(editor: Editor, value: float, like: str | None) -> str:
    torch = alias(editor.module, "torch")
    if like is None:
        return f"{torch}.tensor({float(value)})"
    named = "zeros_like" if value == 0 else "ones_like" if value == 1 else ""
    return f"{torch}.{named}({like})" if named else f"{torch}.full_like({like}, {value})"
