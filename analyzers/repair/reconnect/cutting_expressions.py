"""Find expressions that cut a graph: `.item()`, `.data`, a new tensor, a sample. A new tensor made
of literal rows, `torch.tensor([[c, -s], [s, c]])`, becomes a stack that keeps its graph.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from analyzers.repair.blocks import alias, joined, text_with
from analyzers.source import priors
from analyzers.source.callees import operation, plain_name
from analyzers.source.calls import calls_of
from analyzers.source.detached import VALUES
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import is_dotted, own_expressions
from analyzers.source.project import Scope, spelled
from analyzers.source.trees import nodes_of, walk

_ENDING_METHODS = VALUES | {"cpu"}
_TENSOR_MAKERS = frozenset(
    {"tensor", "as_tensor", "Tensor", "FloatTensor", "from_numpy", "Variable"}
)


def cuts_in(statement: ast.stmt) -> list[ast.Attribute | ast.Call]:
    """Return the expressions of the statement itself that cut, outermost first, each chain once."""
    found: list[ast.Attribute | ast.Call] = []
    inside: set[int] = set()
    for node in own_expressions(statement):
        if id(node) not in inside and isinstance(node, ast.Attribute | ast.Call) and cuts_at(node):
            found.append(node)
            arguments = node.args if isinstance(node, ast.Call) else []
            written = arguments[0] if arguments and isinstance(arguments[0], Rows) else None
            inside |= {id(part) for part in walk(written)} if written is not None else set()
            inside |= _links(arguments[0] if arguments else node)
    return found


def cut_from(cut: ast.Attribute | ast.Call) -> ast.expr:
    """Return what an expression cuts: `loss` for `loss.data`, `xs` for `torch.tensor(xs)`."""
    return base_of(cut.args[0] if isinstance(cut, ast.Call) and cut.args else cut)


def compared(node: ast.AST) -> list[ast.expr]:
    """Return the two sides of a difference, or the first two arguments of a loss; else nothing."""
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [left, right]
        case ast.Call(args=[one, other, *_]) if priors.is_loss(plain_name(node)):
            return [one, other]
    return []


def cuts_at(node: ast.Attribute | ast.Call) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "data"
    name = operation(node)
    if isinstance(node.func, ast.Attribute) and not node.args and name in _ENDING_METHODS:
        return name != "cpu"
    made = name in _TENSOR_MAKERS or spelled(node.func) in ("float",)
    return made and bool(node.args) and not _is_of_numbers(node.args[0])


def _is_of_numbers(value: ast.expr) -> bool:
    """Return True if a value consists of literal numbers: there is no graph to keep."""
    parts = walk(value)
    return all(
        isinstance(p, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.USub | ast.Load)
        for p in parts
    )


def _shortened(node: ast.expr) -> ast.expr | None:
    """Return a chain of cutting methods without its last link; None if there is none."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if (
            attr in _ENDING_METHODS
        ):
            return value
        case ast.Attribute(value=value, attr="data"):
            return value
    return None


def _links(node: ast.expr) -> set[int]:
    """Return the nodes that make up a chain, without its base."""
    found: set[int] = set()
    while (shorter := _shortened(node)) is not None:
        found |= {id(node), id(getattr(node, "func", node))}
        node = shorter
    return found


def base_of(node: ast.expr) -> ast.expr:
    """Return what a chain of cutting methods is applied to."""
    while (shorter := _shortened(node)) is not None:
        node = shorter
    return node


Uncutting = Callable[[ast.expr], Iterable[Edit]]
Rows = ast.List | ast.Tuple | ast.ListComp


def restacked(editor: Editor, rows: Rows, uncut: Uncutting, like: str | None = None) -> str:
    """Return a literal sequence as a stack, at any depth. `uncut` gives the edits by which an entry
    keeps its graph; a number among tensors becomes a tensor like them.
    """
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
    """Yield edits for what a list receives from Python's `max` or `min`, which may be a plain
    number: `max(x, 0.0)` becomes `torch.clamp(x, min=0.0)`, as its stack requires.
    """
    for call in calls_of(scope, "list.append"):
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
    """Yield entries that are plain names, also in nested rows: `c` for `[c, -s]`."""
    for entry in _entries(rows):
        inner = entry.operand if isinstance(entry, ast.UnaryOp) else entry
        if isinstance(inner, Rows) and not isinstance(inner, ast.ListComp):
            yield from _named(inner)
        elif is_dotted(inner) and not isinstance(rows, ast.ListComp):
            yield spelled(inner)


def _number(entry: ast.expr) -> float | None:
    """Return the number that an entry spells; None for anything else."""
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


def opposed(total: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the parts of a sum, each with the other one, if that contains its negative: `z`, `q -
    z`.
    """
    match total:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for kept, other in ((left, right), (right, left)):
                taken = nodes_of(other, ast.BinOp)
                negative = [spelled(n.right) for n in taken if isinstance(n.op, ast.Sub)]
                if spelled(kept) in negative:
                    yield kept, other
