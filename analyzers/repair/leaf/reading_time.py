"""Find statements that show a gradient, and fix those that read it at the wrong time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.rewrite import move_after
from analyzers.source.calls import ZERO_GRAD, calls_of
from analyzers.source.flow import own_expressions
from analyzers.source.project import Module, Project, spelled
from analyzers.source.statement_ranges import ahead_of, statements_after
from analyzers.source.trees import nodes_of

READ_AS_NONE = "gradient-read-as-none"
_TESTS = (ast.Compare, ast.BoolOp, ast.IfExp, ast.UnaryOp)


def shown_alone(where: SourceLocation, project: Project) -> ast.Attribute | None:
    """Return the gradient that a statement shows, if no other statement shows it: a script that
    does both distinguishes the two times.
    """
    shown = list(_shown(where.module, where.statement))
    texts = {spelled(node) for node in shown}
    others = (
        spelled(node)
        for module, statement in project.each(ast.stmt)
        if statement is not where.statement
        for node in _shown(module, statement)
    )
    return shown[0] if shown and texts.isdisjoint(others) else None


def _shown(module: Module, statement: ast.stmt) -> Iterator[ast.Attribute]:
    """Yield the gradients that a statement prints, logs, stores or returns,
    whatever their values.
    """
    if not isinstance(statement, ast.Expr | ast.Return):
        return
    for top in own_expressions(statement):
        for node in nodes_of(top, ast.Attribute):
            if node.attr == "grad":
                parents = [parent for parent in module.ancestors(node) if parent is not statement]
                if isinstance(node.ctx, ast.Load) and not _is_tested(module, node, parents):
                    yield node


def _is_tested(module: Module, node: ast.AST, parents: list[ast.AST]) -> bool:
    """Return True if its identity is tested, or a part of it is read, which None does not have."""
    parent = module.parents.get(node)
    taken = isinstance(parent, ast.Attribute | ast.Subscript)
    return taken or any(isinstance(one, _TESTS) for one in parents)


def read_in_time(where: SourceLocation) -> Iterator[Proposal]:
    """Yield a proposal that reads after the backward call of the block; else
    before the clearing.
    """
    clearing = [s for s in ahead_of(where.module, where.statement) if calls_of(s, *ZERO_GRAD)]
    backwards = [
        s
        for s in statements_after(where.module, where.statement)
        if calls_of(s, "torch.Tensor.backward")
    ]
    if backwards:
        edits = joined(move_after(where.editor, [where.statement], backwards[0]))
        yield Proposal("read-after-backward", "Read it after the backward", edits)
    elif clearing:
        lines = where.editor.lines_of(where.statement)
        put = where.editor.insert_before(clearing[-1], *lines)
        edits = joined([where.editor.delete(where.statement), put])
        title = f"Read it before line {clearing[-1].lineno}, which clears it"
        yield Proposal("read-before-clearing", title, edits)
