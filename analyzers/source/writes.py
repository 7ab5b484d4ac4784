"""Find in-place writes in a statement by their form."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.source.callees import in_library, keyword, operation
from analyzers.source.flow import is_dotted, own_expressions
from analyzers.source.ops import VIEWS
from analyzers.source.project import spelled
from analyzers.source.trees import walk

# Methods with a trailing underscore that write no values.
_NOT_WRITING = frozenset({"requires_grad_", "detach_", "share_memory_", "retain_grad_"})


@dataclass(frozen=True)
class Write:
    """An in-place write: the expression written to, and the node that writes."""

    target: ast.expr
    node: ast.AST

    @property
    def name(self) -> str:
        """Return the name at the root of the target: `x` for `x[0]`,
        `self.mem` for `self.mem[i]`.
        """
        return spelled(unsliced(self.target))

    @property
    def indexed(self) -> bool:
        """Return True if only a part of the tensor is written."""
        return not isinstance(self.target, ast.Name | ast.Attribute)


def unsliced(node: ast.expr) -> ast.expr:
    """Return what indexing and views are applied to (`x` for `x[0]`, `x.data`, `x.view(-1)`)."""
    while True:
        match node:
            case ast.Subscript(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in VIEWS:
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if writes_in_place(attr):
                node = value
            case ast.Attribute(
                value=value, attr="T" | "mT" | "H" | "mH" | "real" | "imag" | "data"
            ):
                node = value
            case _:
                return node


def writes_in_place(method: str) -> bool:
    """Return True if a method of this name writes to its tensor, by PyTorch's convention."""
    return method.endswith("_") and not method.endswith("__") and method not in _NOT_WRITING


def writes(statement: ast.stmt) -> Iterator[Write]:
    """Yield the in-place writes of a statement, outermost first."""
    if isinstance(statement, ast.AugAssign):
        yield Write(statement.target, statement)
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            for part in [target, *walk(target)]:
                if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                    yield Write(part, statement)
    for node in own_expressions(statement):
        if isinstance(node, ast.Call):
            yield from _written_by(node)


def _written_by(call: ast.Call) -> Iterator[Write]:
    name = operation(call)
    if isinstance(call.func, ast.Attribute) and writes_in_place(name) and not is_library(call):
        yield Write(call.func.value, call)
    elif writes_in_place(name) and call.args:
        yield Write(call.args[0], call)
    if call.args and is_true(keyword(call, "inplace")):
        yield Write(call.args[0], call)
    if (written := keyword(call, "out")) is not None:
        yield Write(written, call)


def is_true(node: ast.expr | None) -> bool:
    """Return True if the expression is the literal `True`."""
    return isinstance(node, ast.Constant) and node.value is True


def is_library(call: ast.Call) -> bool:
    """Return True for `F.relu_(x)`, `torch.relu_(x)`, `nn.init.normal_(w)`: a function, not a
    tensor's method.
    """
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner is not None and bool(call.args) and is_dotted(owner) and in_library(call)
