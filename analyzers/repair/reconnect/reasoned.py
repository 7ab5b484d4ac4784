"""Fixes for values that have no graph for a reason that lies before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.reasons import Reason
from analyzers.explain.spots import Spot, spot
from analyzers.repair.blocks import alias
from analyzers.source.project import Project, spelled


def for_reason(reason: Reason, evidence: MissingGraph, project: Project) -> Iterator[Proposal]:
    """The method in place of an attribute; zeros in place of a derivative of a constant."""
    where = spot(project, reason.place)
    if reason.kind == "flag" and where is not None:
        edit = where.editor.replace(where.statement, f"{reason.name}.requires_grad_(True)")
        title = f"Switch the flags of the parameters of `{reason.name}` on"
        yield Proposal("flags-of-parameters", title, (edit,), "", 0)
    asked = spot(project, evidence.at)
    if reason.kind == "constant" and asked is not None:
        yield from _zeros(asked, evidence)


def _zeros(asked: Spot, evidence: MissingGraph) -> Iterator[Proposal]:
    """`grad(slope.sum(), x)` where `slope` has a graph, else zeros like `x`."""
    call = asked.call("grad")
    if call is None or len(call.args) < 2 or not evidence.holders:
        return
    name, by = evidence.holders[0].path, call.args[1]
    inputs = by.elts if isinstance(by, ast.Tuple | ast.List) else [by]
    torch, editor = alias(asked.module, "torch"), asked.editor
    zeros = "".join(f"{torch}.zeros_like({spelled(one)}), " for one in inputs)
    text = f"({editor.text_of(call)} if {name}.requires_grad else ({zeros.strip()}))"
    title = f"Take zeros where `{name}` is a constant"
    yield Proposal("zeros-of-constant", title, (editor.replace(call, text),), "", 0)
