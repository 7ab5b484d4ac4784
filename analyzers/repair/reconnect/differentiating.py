"""Create gradients with a graph of their own, for losses made of derivatives."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.rewrite import with_keyword
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import spelled
from analyzers.source.trees import walk


def differentiable_gradients(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal with `create_graph=True` for the `autograd.grad` call where a graph ended,
    and for those that give other terms of the same sum; it replaces `retain_graph=True`, which it
    implies.
    """
    call = where.call("torch.autograd.grad")
    edit = _with_graph(where.editor, call) if call is not None else None
    if call is None or edit is None:
        return
    others = [other for other in _of_one_sum(where) if other is not call]
    more = [e for other in others if (e := _with_graph(where.editor, other)) is not None]
    if more:
        title = "Give all gradients of the sum a graph of their own"
        yield Proposal("create-graph", title, joined([edit, *more]), "", rank)
        rank += 1
    title = f"Give the gradients of line {call.lineno} a graph of their own"
    yield Proposal("create-graph", title, (edit,), "", rank)


def _with_graph(editor: Editor, call: ast.Call) -> Edit | None:
    """Return an edit that sets the option on a call; None if it is set."""
    options = {k.arg: k for k in call.keywords}
    created, kept = options.get("create_graph"), options.get("retain_graph")
    if created is not None and spelled(created.value) == "True":
        return None
    if created is None and kept is not None and spelled(kept.value) == "True":
        return editor.replace(kept, "create_graph=True")
    return with_keyword(editor, call, "create_graph")


def _of_one_sum(where: SourceLocation) -> Iterator[ast.Call]:
    """Yield the `grad` calls in the function whose results enter a sum with those of the place:
    `u_t + u * u_x - nu * u_xx`.
    """
    own, summed = set(bindings(where.statement)), set[str]()
    statements = statements_of(where.scope)
    for statement in statements:
        value = statement.value if isinstance(statement, ast.Return) else value_of(statement)
        for node in walk(value) if value is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
                names = names_read(node)
                summed |= names if names & own else set()
    for statement in statements:
        if isinstance(statement, ast.Assign) and set(bindings(statement)) & summed:
            yield from calls_of(statement, "torch.autograd.grad")
