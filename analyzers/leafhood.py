"""Fixes for gradients of tensors that are no leaves: make them leaves, or keep the gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.edits import Edit, Editor, needs_parentheses
from analyzers.evidence import MissingGraph
from analyzers.flow import bindings, called_name, walk_scope
from analyzers.outofplace import without_keyword
from analyzers.pattern import Proposal
from analyzers.rewrite import calls_named
from analyzers.source import Project, spelled
from analyzers.spots import Spot, names_held, spot


def leaf_last(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """`requires_grad` set on the result of the operations, not on what they start from."""
    where = spot(project, evidence.ended_at)
    if where is None or not isinstance(where.statement, ast.Assign):
        return
    value, editor = where.statement.value, where.editor
    title = f"Make `{bindings(where.statement)[0]}` itself the leaf"
    inner = [e for node in ast.walk(value) if node is not value for e in _unset(editor, node)]
    if inner:
        edits = (*inner, *_required(editor, value))
        yield Proposal("leaf-last", title, edits, "unknown", "", rank)
        rank += 1
    if "optimize" in evidence.message:
        edit = editor.append_to(value, ".detach().requires_grad_()")
        yield Proposal("new-leaf", title, (edit,), "unknown", "", rank)


def _unset(editor: Editor, node: ast.AST) -> Iterator[Edit]:
    """Edits by which a call no longer asks for a gradient."""
    if not isinstance(node, ast.Call):
        return
    for keyword in node.keywords:
        if keyword.arg == "requires_grad" and spelled(keyword.value) == "True":
            yield without_keyword(editor, node, keyword)
    if called_name(node) == "requires_grad_" and isinstance(node.func, ast.Attribute):
        _, start = editor.span(node.func.value)
        _, end = editor.span(node)
        yield Edit(editor.module.path, start, end, "")


def _required(editor: Editor, value: ast.expr) -> Iterator[Edit]:
    start, end = editor.span(value)
    path = editor.module.path
    if needs_parentheses(value):
        yield Edit(path, start, start, "(")
        yield Edit(path, end, end, ").requires_grad_()")
    else:
        yield Edit(path, end, end, ".requires_grad_()")


def keep_gradient(evidence: MissingGraph, project: Project, rank: int = 4) -> Iterator[Proposal]:
    """`retain_grad()` behind the line that makes the tensor, or in front of the backward."""
    names = names_held(evidence.holders)
    reading, making = spot(project, evidence.at), spot(project, evidence.ended_at)
    if not names or reading is None or "optimize" in evidence.message:
        return
    line = f"{names[0]}.retain_grad()"
    same = making is not None and making.scope is reading.scope
    if making is not None and same and names[0] in bindings(making.statement):
        edit = making.editor.insert_after(making.statement, line)
        yield _kept(names[0], edit, rank)
        return
    before = _walk_before(reading)
    if before is not None:
        yield _kept(names[0], reading.editor.insert_before(before, line), rank)
    bound = bindings(making.statement) if making is not None else []
    if making is not None and bound and isinstance(making.statement, ast.Assign):
        kept = f"{bound[0]}.retain_grad()"
        yield _kept(bound[0], making.editor.insert_after(making.statement, kept), rank + 1)


def _walk_before(reading: Spot) -> ast.stmt | None:
    """The last backward in front of the reading line, in its function."""
    walks = [
        node
        for node in walk_scope(reading.scope)
        if isinstance(node, ast.Expr)
        and node.lineno < reading.statement.lineno
        and calls_named(node, "backward")
    ]
    return walks[-1] if walks else None


def _kept(name: str, edit: Edit, rank: int) -> Proposal:
    return Proposal("retain-grad", f"Keep the gradient of `{name}`", (edit,), "same", "", rank)
