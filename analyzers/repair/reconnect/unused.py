"""Fixes for gradients of tensors that the loss does not depend on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import names_held, spot
from analyzers.repair.blocks import joined
from analyzers.repair.reconnect.ignored import is_derivative, question_of
from analyzers.repair.rewrite import head_of, with_keyword
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import bindings, names_read, statements_of
from analyzers.source.passes import passes
from analyzers.source.project import FUNCTIONS, Module, Project
from analyzers.source.targets import target_names
from analyzers.source.trees import walk

_UNNOTICED = "A tensor that should have been used, and is not, goes unnoticed."


def zeros_for_unused(evidence: MissingGraph, project: Project, rank: int = 2) -> Iterator[Proposal]:
    """Zeros in the place of gradients that do not exist. Not for a plain input: that the forward
    ignores it is the fault, unless a gradient itself is differentiated, which may be constant."""
    question = question_of(evidence, project)
    inputs = all(holder.kind in ("local", "global") for holder in evidence.holders)
    if inputs and not (question is not None and is_derivative(question)):
        return
    where = spot(project, evidence.at)
    call = where.call("grad") if where is not None else None
    if where is None or call is None:
        return
    edit = with_keyword(where.editor, call, "materialize_grads")
    title = "Ask for zeros where there is no gradient"
    yield Proposal("materialize-grads", title, (edit,), _UNNOTICED, rank)


def none_for_unused(evidence: MissingGraph, project: Project, rank: int = 1) -> Iterator[Proposal]:
    """None in the place of gradients that do not exist, where a loop hands them to `.grad`: a
    backward would leave them so, and an optimizer's step passes over them, as over no zeros."""
    where = spot(project, evidence.at)
    call = where.call("grad") if where is not None else None
    if where is None or call is None:
        return
    given = set(bindings(where.statement))
    edits = [
        edit
        for loop in statements_of(where.scope)
        if isinstance(loop, ast.For) and given & names_read(loop.iter)
        for edit in _handing_none(where.editor, loop)
    ]
    if edits:
        edits.append(with_keyword(where.editor, call, "allow_unused"))
        title = "Leave parameters without a gradient as they are"
        yield Proposal("allow-unused", title, joined(edits), _UNNOTICED, rank)


def _handing_none(editor: Editor, loop: ast.For) -> Iterator[Edit]:
    """What the loop's assignments to `.grad` hand on, None where the gradient is."""
    for node in walk(loop):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=owner, attr="grad")], value=value):
                parts = names_read(value) & set(target_names(loop.target)) - names_read(owner)
                if len(parts) == 1:
                    text = f"None if {parts.pop()} is None else {editor.text_of(value)}"
                    yield editor.replace(value, text)


def requiring_grad(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """`requires_grad_()` on the input, before the function that differentiates uses it."""
    where, names = spot(project, evidence.at), names_held(evidence.holders)
    if where is None or not names:
        return
    users = [node for node in statements_of(where.scope) if names[0] in names_read(node)]
    if users:
        line = f"{names[0]}.requires_grad_()"
        edit = where.editor.insert_before(users[0], line)
        title = f"Record what is computed from `{names[0]}`"
        yield Proposal("require-grad", title, (edit,), "", rank)


def gradless_skipped(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Every loop of the function that reads `.grad` of its variable skips those that have none."""
    where = spot(project, evidence.at)
    if where is None:
        return
    scope = next((p for p in where.module.ancestors(where.statement) if _is_scope(p)), None)
    edits = [
        edit
        for node in walk(scope or where.module.tree)
        for edit in _guarded(where.module, where.editor, node)
    ]
    if edits:
        title = "Skip parameters that have no gradient"
        yield Proposal("skip-gradless", title, joined(edits), "", rank)


def _is_scope(node: ast.AST) -> bool:
    return isinstance(node, FUNCTIONS[:2])


def _guarded(module: Module, editor: Editor, node: ast.AST) -> Iterator[Edit]:
    """A guard against `.grad is None` in a loop or a comprehension over the tensors."""
    if isinstance(node, ast.For | ast.While):
        through = passes(node, module.scope_of(node))
        for name in through.names if through is not None else ():
            reading = [s for s in node.body if _reads_gradient(s, name)]
            if reading and not _has_guard(node, name):
                lines = [f"if {name}.grad is None:", "    continue"]
                at = head_of(node) if isinstance(node, ast.For) else reading[0]
                yield editor.insert_before(at, *lines)
    if isinstance(node, ast.comprehension):
        parent = module.parents.get(node)
        for name in target_names(node.target):
            if parent is not None and _reads_gradient(parent, name) and not _has_guard(node, name):
                end = editor.span(node.ifs[-1] if node.ifs else node.iter)[1]
                yield Edit(module.path, end, end, f" if {name}.grad is not None")


def _reads_gradient(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(inner, ast.Attribute)
        and inner.attr == "grad"
        and isinstance(inner.value, ast.Name)
        and inner.value.id == name
        for inner in walk(node)
    )


def _has_guard(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(inner, ast.Compare)
        and any(isinstance(op, ast.Is | ast.IsNot) for op in inner.ops)
        and _reads_gradient(inner, name)
        for inner in walk(node)
    )
