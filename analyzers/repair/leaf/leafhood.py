"""Fixes for gradients of tensors that are no leaves: make them leaves, or keep the gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot, names_held, spot
from analyzers.repair.rewrite import without_true
from analyzers.source.calls import calls_named
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import bindings, called_name, walk_scope
from analyzers.source.project import Project
from analyzers.source.trees import position


def leaf_last(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """`requires_grad` set on the result of the operations, not on what they start from."""
    where = spot(project, evidence.ended_at)
    if where is None or not isinstance(where.statement, ast.Assign):
        return
    value, editor = where.statement.value, where.editor
    title = f"Make `{bindings(where.statement)[0]}` itself the leaf"
    yield from _wrapped_last(where, title, rank)
    inner = [e for node in ast.walk(value) if node is not value for e in _unset(editor, node)]
    if inner:
        edits = (*inner, *_required(editor, value))
        yield Proposal("leaf-last", title, edits, "", rank)
        rank += 1
    if "optimize" in evidence.message:
        edit = editor.append_to(value, ".detach().requires_grad_()")
        yield Proposal("new-leaf", title, (edit,), "", rank)


def _wrapped_last(where: Spot, title: str, rank: int) -> Iterator[Proposal]:
    """`Parameter(x.to(d))` for `Parameter(x).to(d)`."""
    assert isinstance(where.statement, ast.Assign)
    value, editor = where.statement.value, where.editor
    for call in calls_named(value, "Parameter"):
        if call is value or len(call.args) != 1:
            continue
        argument = call.args[0]
        text = editor.text_of(argument)
        bare = f"({text})" if needs_parentheses(argument) else text
        (start, end), (first, last) = editor.span(value), editor.span(call)
        source = where.module.text
        inside = source[start:first] + bare + source[last:end]
        flags = "".join(f", {editor.text_of(keyword)}" for keyword in call.keywords)
        edit = editor.replace(value, f"{editor.text_of(call.func)}({inside}{flags})")
        yield Proposal("leaf-last", title, (edit,), "", rank)
        return


def _unset(editor: Editor, node: ast.AST) -> Iterator[Edit]:
    """Edits by which a call no longer asks for a gradient."""
    if not isinstance(node, ast.Call):
        return
    yield from without_true(editor, node, "requires_grad")
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


def detached_instead(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """`x.detach()` where `requires_grad` is switched off on the result of an operation."""
    where = spot(project, evidence.at)
    if where is None or "requires_grad flags" not in evidence.message:
        return
    for name, edit, in_place in _switched_off(where):
        title = f"Detach `{name}` instead of switching `requires_grad` off"
        yield Proposal("detach-result", title, (edit,), "", rank)
        if in_place is not None:  # whatever other name the tensor has is detached with it
            yield Proposal("detach-result", title, (in_place,), "", rank + 1)
        return


def _switched_off(where: Spot) -> Iterator[tuple[str, Edit, Edit | None]]:
    """What `requires_grad` is switched off on, with the edits that detach it: the name bound to
    a detached tensor; where a statement does nothing else, the tensor detached in place too."""
    statement, editor = where.statement, where.editor
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=tensor, attr="requires_grad")]):
            name = editor.text_of(tensor)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=tensor, attr="requires_grad_"))):
            name = editor.text_of(tensor)
        case _:
            for call in calls_named(statement, "requires_grad_"):
                assert isinstance(call.func, ast.Attribute)
                start, end = editor.span(call.func.value)[1], editor.span(call)[1]
                edit = Edit(where.module.path, start, end, ".detach()")
                yield editor.text_of(call.func.value), edit, None
            return
    bound = editor.replace(statement, f"{name} = {name}.detach()")
    yield name, bound, editor.replace(statement, f"{name}.detach_()")


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
        and position(node) < position(reading.statement)
        and calls_named(node, "backward")
    ]
    return walks[-1] if walks else None


def _kept(name: str, edit: Edit, rank: int) -> Proposal:
    return Proposal("retain-grad", f"Keep the gradient of `{name}`", (edit,), "", rank)
