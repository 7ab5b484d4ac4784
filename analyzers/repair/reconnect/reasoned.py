"""Fixes for values that have no graph for a reason that lies before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.reasons import Reason
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import alias, joined
from analyzers.repair.settings.functions import functions, returned
from analyzers.source.edits import Edit, Editor
from analyzers.source.project import Project, spelled


def for_reason(reason: Reason, evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """Propose what the reason suggests: call the method, pass tensors singly, zeros for a
    constant."""
    where = resolve_location(project, reason.place)
    if reason.kind == "flag" and where is not None:
        edit = where.editor.replace(where.statement, f"{reason.name}.requires_grad_(True)")
        title = f"Switch the flags of the parameters of `{reason.name}` on"
        yield Proposal("flags-of-parameters", title, (edit,), "", 0)
    if reason.kind == "list" and where is not None:
        yield from _one_by_one(where, reason, project)
    asked = resolve_location(project, evidence.at)
    if reason.kind == "constant" and asked is not None:
        yield from _zeros(asked, evidence)


def _one_by_one(where: SourceLocation, reason: Reason, project: Project) -> Iterator[Proposal]:
    """Propose `F.apply(*tensors)` and `forward(ctx, *tensors)`, with a backward returning a
    tuple."""
    call = where.call("torch.autograd.Function.apply")
    own = [found for found in functions(project) if found[1].name == reason.name]
    if call is None or len(call.args) != 1 or not own:
        return
    module, _, methods = own[0]
    forward, editor = methods.get("forward"), Editor(module)
    if forward is None or len(forward.args.args) != 2 or "setup_context" in methods:
        return
    edits = [_starred(where.editor, call.args[0]), _starred(editor, forward.args.args[1])]
    for statement, parts in returned(methods.get("backward")):
        if len(parts) == 1 and statement.value is not None:
            text = editor.text_of(statement.value)
            edits.append(editor.replace(statement.value, f"tuple({text})"))
    title = f"Hand the tensors of `{reason.name}` over one by one"
    yield Proposal("one-by-one", title, joined(edits), "", 0)


def _starred(editor: Editor, node: ast.AST) -> Edit:
    start, _ = editor.span(node)
    return Edit(editor.module.path, start, start, "*")


def _zeros(asked: SourceLocation, evidence: MissingGraph) -> Iterator[Proposal]:
    """Propose `grad(slope.sum(), x)` if `slope` has a graph, else zeros like `x`."""
    call = asked.call("torch.autograd.grad")
    if call is None or len(call.args) < 2 or not evidence.holders:
        return
    name, by = evidence.holders[0].path, call.args[1]
    inputs = by.elts if isinstance(by, ast.Tuple | ast.List) else [by]
    torch, editor = alias(asked.module, "torch"), asked.editor
    zeros = "".join(f"{torch}.zeros_like({spelled(one)}), " for one in inputs)
    text = f"({editor.text_of(call)} if {name}.requires_grad else ({zeros.strip()}))"
    title = f"Take zeros where `{name}` is a constant"
    yield Proposal("zeros-of-constant", title, (editor.replace(call, text),), "", 0)
