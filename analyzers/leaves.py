"""Fixes for leaves that are updated by hand: under `no_grad`, in place, as the same leaf."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.blocks import alias, missing_import, run_around, wrapped
from analyzers.edits import Edit, Editor
from analyzers.flow import mentions, value_of, walk_scope
from analyzers.outofplace import out_of_place
from analyzers.pattern import Proposal
from analyzers.source import Module, spelled
from analyzers.spots import Spot
from analyzers.writes import writes


def no_grad_header(module: Module) -> str:
    """`with torch.no_grad():` in the module's own spelling."""
    name = alias(module, "torch.no_grad")
    if name == "torch.no_grad":
        name = f"{alias(module, 'torch')}.no_grad"
    return f"with {name}():"


def written_alike(where: Spot) -> list[ast.stmt]:
    """The statements of the block, next to this one, that write in place as it does."""
    alike = [s for s in where.block if is_update(s)]
    return run_around(where.module, where.statement, [*alike, where.statement])


def is_update(statement: ast.stmt) -> bool:
    """Whether a simple statement does nothing but write into tensors, by its form."""
    if isinstance(statement, ast.AugAssign):
        return not isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Expr):
        return bool(list(writes(statement)))
    if isinstance(statement, ast.Assign):
        return bool(list(writes(statement))) or spelled(statement.targets[0]).endswith(".grad")
    return False


def under_no_grad(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """The update, with its neighbours of the same kind, under `torch.no_grad()`."""
    statements = written_alike(where)
    edit = wrapped(where.editor, statements, no_grad_header(where.module))
    if edit is not None:
        title = "Update the leaf under `torch.no_grad()`"
        edits = (edit, *missing_import(where.editor))
        yield Proposal("under-no-grad", title, edits, "same", "", rank)


def leaf_out_of_place(where: Spot, names: Sequence[str], rank: int = 1) -> Iterator[Proposal]:
    """A new tensor computed from the leaf, as a part of the graph."""
    wanted = {w.name for w in writes(where.statement) if w.name in names or not names}
    edits = out_of_place(where.module, where.statement, wanted.__contains__)
    if edits and not mentions(where.statement, "grad"):
        told = " and ".join(f"`{name}`" for name in sorted(wanted))
        title = f"Compute a new tensor from {told}"
        yield Proposal("out-of-place", title, edits, "unknown", "", rank)


def rebinds(statement: ast.stmt, name: str) -> bool:
    """Whether a plain assignment gives the name a value computed from itself."""
    value = value_of(statement)
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and spelled(statement.targets[0]) == name
        and value is not None
        and mentions(value, name)
    )


def in_place_of(editor: Editor, statement: ast.Assign) -> Edit:
    """`w -= x` for `w = w - x`; `w.copy_(...)` for any other value."""
    target, value = statement.targets[0], statement.value
    name = editor.text_of(target)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub | ast.Mult):
        if spelled(value.left) == spelled(target):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(value.op)]
            right = editor.text_of(value.right)
            return editor.replace(statement, f"{name} {sign}= {right}")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        receiver = value.func
        if spelled(receiver.value) == spelled(target) and receiver.attr in ("clamp", "clip"):
            start, _ = editor.span(statement)
            _, function_end = editor.span(value.func)
            return Edit(editor.module.path, start, function_end, f"{name}.{receiver.attr}_")
    return editor.replace(statement, f"{name}.copy_({editor.text_of(value)})")


def clears(scope: ast.AST, name: str) -> bool:
    """Whether the scope clears the leaf's gradient somewhere."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("zero_", "zero_grad")
        and spelled(node.value).startswith(name)
        for node in walk_scope(scope)
    ) or any(
        isinstance(node, ast.Assign) and spelled(node.targets[0]) == f"{name}.grad"
        for node in walk_scope(scope)
    )
