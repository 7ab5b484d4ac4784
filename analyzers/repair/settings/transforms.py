"""Fix functions passed to `torch.func`: no writes into tensors without a
batch, no backward call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import KnownError
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import joined
from analyzers.source.callees import operation
from analyzers.source.edits import Edit
from analyzers.source.flow import statements_of
from analyzers.source.project import FUNCTIONS, Project, spelled

_FILLED = {"zeros": "new_zeros", "ones": "new_ones", "empty": "new_empty", "full": "new_full"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def written_out_of_place(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with `total = total + x`; else one that creates the
    target from an argument.
    """
    where = resolve_location(project, error.at)
    if where is None:
        return
    write = where.statement
    if isinstance(write, ast.AugAssign) and isinstance(write.target, ast.Name):
        name = write.target.id
        sign = _SIGNS.get(type(write.op))
        if sign is not None:
            text = f"{name} = {name} {sign} {_operand(where, write.value)}"
            title = f"Compute a new `{name}` in place of writing into it"
            yield Proposal("out-of-place", title, (where.editor.replace(write, text),))
    yield from _of_what_comes_in(where)


def _operand(where: SourceLocation, value: ast.expr) -> str:
    text = where.editor.text_of(value)
    return f"({text})" if isinstance(value, ast.BinOp | ast.IfExp) else text


def _of_what_comes_in(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal with `x.new_zeros(n)`, for the function's first argument, instead of
    `torch.zeros(n)`.
    """
    function = where.scope
    if not isinstance(function, FUNCTIONS[:2]) or not function.args.args:
        return
    source = function.args.args[0].arg
    edits: list[Edit] = []
    for statement in statements_of(function):
        value = statement.value if isinstance(statement, ast.Assign) else None
        made = isinstance(value, ast.Call) and operation(value) in _FILLED
        if made and isinstance(value, ast.Call) and spelled(value.func).startswith("torch."):
            edits.append(where.editor.replace(value.func, f"{source}.{_FILLED[operation(value)]}"))
    if edits:
        title = f"Make what is written into of `{source}`, which has the batch"
        yield Proposal("of-the-batch", title, joined(edits), "", 1)


def returned_loss(error: KnownError, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that removes a backward call within the function: the transform takes the
    gradient.
    """
    where = resolve_location(project, error.at)
    call = where.call("torch.Tensor.backward") if where is not None else None
    if where is None or call is None or not isinstance(where.statement, ast.Expr):
        return
    title = "Leave the gradient to the transform"
    yield Proposal("no-backward", title, (where.editor.delete(where.statement),), "", 2)
