"""Fix gradients of tensors that are not leaves: make them leaves, or retain the gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.listed import said
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held, resolve_location
from analyzers.repair.blocks import joined, text_with
from analyzers.repair.rewrite import without_true
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit, Editor, needs_parentheses
from analyzers.source.flow import bindings, statements_of
from analyzers.source.project import Project
from analyzers.source.targets import target_names
from analyzers.source.trees import position, walk


def leaf_last(evidence: MissingGraph, project: Project, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal that sets `requires_grad` on the result of the operations, not on their
    input.
    """
    where = resolve_location(project, evidence.ended_at)
    statement = where.statement if where is not None else None
    if where is None or not isinstance(statement, ast.Assign | ast.Return):
        return
    value, editor = statement.value, where.editor
    if value is None:
        return
    title = f"Make `{(bindings(statement) or [editor.text_of(value)])[0]}` itself the leaf"
    if (whole := _wrapped_last(editor, value)) is not None:
        yield Proposal("leaf-last", title, (whole,), "", rank)
    if edits := _set_last(editor, value):
        yield Proposal("leaf-last", title, edits, "", rank)
        others = [s for s in where.block if isinstance(s, ast.Assign) and s is not statement]
        alike = [(s, made) for s in others if (made := _set_last(editor, s.value))]
        if alike:
            names = [bindings(s)[0] for s in (statement, *(one for one, _ in alike))]
            every = joined([*edits, *(edit for _, made in alike for edit in made)])
            whole_title = f"Make {said(names)} themselves the leaves"
            yield Proposal("leaf-last", whole_title, every, "", rank)
        rank += 1
    if "optimize" in evidence.message:
        edit = editor.append_to(value, ".detach().requires_grad_()")
        yield Proposal("new-leaf", title, (edit,), "", rank)


def _set_last(editor: Editor, value: ast.expr) -> tuple[Edit, ...]:
    """Return edits for `(randn(n) / s).requires_grad_()` instead of `randn(n, requires_grad=True) /
    s`.
    """
    inner = [e for node in walk(value) if node is not value for e in _unset(editor, node)]
    if not inner:
        return ()
    (start, end), path = editor.span(value), editor.module.path
    bare = not needs_parentheses(value)
    around = [] if bare else [Edit(path, start, start, "(")]
    last = Edit(path, end, end, ".requires_grad_()" if bare else ").requires_grad_()")
    return (*inner, *around, last)


def _wrapped_last(editor: Editor, value: ast.expr) -> Edit | None:
    """Return an edit for `Parameter(x.to(d))` instead of `Parameter(x).to(d)`."""
    for call in calls_of(value, "torch.nn.Parameter"):
        if call is not value and len(call.args) == 1:
            bare = editor.text_of(call.args[0])
            bare = f"({bare})" if needs_parentheses(call.args[0]) else bare
            inside = text_with(editor, value, [editor.replace(call, bare)])
            flags = "".join(f", {editor.text_of(keyword)}" for keyword in call.keywords)
            return editor.replace(value, f"{editor.text_of(call.func)}({inside}{flags})")
    return None


def _unset(editor: Editor, node: ast.AST) -> Iterator[Edit]:
    """Yield edits by which a call no longer sets `requires_grad`."""
    if isinstance(node, ast.Call):
        yield from without_true(editor, node, "requires_grad")
        if is_call(node, "torch.Tensor.requires_grad_") and isinstance(node.func, ast.Attribute):
            yield editor.replace(node, editor.text_of(node.func.value))


def detached_instead(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Yield a proposal with `x.detach()` where `requires_grad` is switched off on the result of an
    operation.
    """
    where = resolve_location(project, evidence.at)
    if where is None or "requires_grad flags" not in evidence.message:
        return
    for name, edit, in_place in _switched_off(where):
        title = f"Detach `{name}` instead of switching `requires_grad` off"
        edits = [edit] if in_place is None else [edit, in_place]
        if _is_loop_variable(name, where):  # what the loop goes through keeps the tensor itself
            edits.reverse()
        for at, one in enumerate(edits):
            yield Proposal("detach-result", title, (one,), "", at)
        return


def _is_loop_variable(name: str, where: SourceLocation) -> bool:
    loops = where.module.loops_around(where.statement)
    return any(name in target_names(loop.target) for loop in loops if isinstance(loop, ast.For))


def _switched_off(where: SourceLocation) -> Iterator[tuple[str, Edit, Edit | None]]:
    """Yield what `requires_grad` is switched off on, with edits that detach it: the name bound to a
    detached tensor; and, if the statement does nothing else, the tensor detached in place.
    """
    statement, editor = where.statement, where.editor
    match statement:
        case (
            ast.Assign(targets=[ast.Attribute(value=tensor, attr="requires_grad")])
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=tensor, attr="requires_grad_")))
        ):
            name = editor.text_of(tensor)
            bound = editor.replace(statement, f"{name} = {name}.detach()")
            yield name, bound, editor.replace(statement, f"{name}.detach_()")
        case _:
            for call in calls_of(statement, "torch.Tensor.requires_grad_"):
                assert isinstance(call.func, ast.Attribute)
                name = editor.text_of(call.func.value)
                yield name, editor.replace(call, f"{name}.detach()"), None


def keep_gradient(evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Yield proposals with `retain_grad()` after the line that computes the tensor, or before the
    backward call.
    """
    names = names_held(evidence.holders)
    reading, making = (
        resolve_location(project, evidence.at),
        resolve_location(project, evidence.ended_at),
    )
    if not names or reading is None or "optimize" in evidence.message:
        return
    made = making is not None and making.scope is reading.scope
    bound = bindings(making.statement) if making is not None else []
    known = made and names[0] in bound
    backwards = [
        s
        for s in statements_of(reading.scope)
        if isinstance(s, ast.Expr) and position(s) < position(reading.statement)
        if calls_of(s, "torch.Tensor.backward")
    ]
    if backwards and not known:
        edit = reading.editor.insert_before(backwards[-1], f"{names[0]}.retain_grad()")
        yield _kept(names[0], edit, 4)
    if making is not None and bound:
        name = names[0] if known else bound[0]
        edit = making.editor.insert_after(making.statement, f"{name}.retain_grad()")
        yield _kept(name, edit, 4 + (not known))


def _kept(name: str, edit: Edit, rank: int) -> Proposal:
    return Proposal("retain-grad", f"Keep the gradient of `{name}`", (edit,), "", rank)
