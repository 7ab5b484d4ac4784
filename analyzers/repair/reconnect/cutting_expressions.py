"""Expressions that cut a graph: `.item()`, `.data`, a tensor made anew, a sample."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.repair.reconnect.stacked import Rows
from analyzers.source.detached import VALUES
from analyzers.source.flow import called_name, own_expressions
from analyzers.source.project import spelled
from analyzers.source.trees import walk

_ENDING_METHODS = VALUES | {"cpu"}
_TENSOR_MAKERS = frozenset(
    {"tensor", "as_tensor", "Tensor", "FloatTensor", "from_numpy", "Variable"}
)


def cuts_in(statement: ast.stmt) -> list[ast.Attribute | ast.Call]:
    """The expressions of the statement itself that cut, outermost first; the parts of a chain only
    once."""
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
    """What an expression cuts: `loss` of `loss.data`, `xs` of `torch.tensor(xs)`."""
    return base_of(cut.args[0] if isinstance(cut, ast.Call) and cut.args else cut)


def cuts_at(node: ast.Attribute | ast.Call) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "data"
    name = called_name(node)
    if isinstance(node.func, ast.Attribute) and not node.args and name in _ENDING_METHODS:
        return name != "cpu"
    made = name in _TENSOR_MAKERS or spelled(node.func) in ("float",)
    return made and bool(node.args) and not _is_of_numbers(node.args[0])


def _is_of_numbers(value: ast.expr) -> bool:
    """Whether a value is written out as numbers: there is no graph to keep."""
    parts = walk(value)
    return all(
        isinstance(p, ast.Constant | ast.List | ast.Tuple | ast.UnaryOp | ast.USub | ast.Load)
        for p in parts
    )


def _shortened(node: ast.expr) -> ast.expr | None:
    """A chain of cutting methods without its last link; None where there is none."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if (
            attr in _ENDING_METHODS
        ):
            return value
        case ast.Attribute(value=value, attr="data"):
            return value
    return None


def _links(node: ast.expr) -> set[int]:
    """The nodes that make up a chain, its base left out."""
    found: set[int] = set()
    while (shorter := _shortened(node)) is not None:
        found |= {id(node), id(getattr(node, "func", node))}
        node = shorter
    return found


def base_of(node: ast.expr) -> ast.expr:
    """What stands in front of a chain of cutting methods."""
    while (shorter := _shortened(node)) is not None:
        node = shorter
    return node


def samples(statement: ast.stmt) -> Iterator[ast.Call]:
    """Calls of `sample` on a distribution, through which no gradient goes."""
    for node in own_expressions(statement):
        if isinstance(node, ast.Call) and called_name(node) == "sample":
            if isinstance(node.func, ast.Attribute):
                yield node
