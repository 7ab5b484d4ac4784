"""Gradients with a graph of their own: where a loss is made of derivatives."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.rewrite import with_keyword
from analyzers.source.project import spelled


def differentiable_gradients(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """`create_graph=True` for the call of `autograd.grad` where a graph ended; `retain_graph=True`
    goes for it, which is a part of that."""
    call = where.call("grad")
    options = {k.arg: k for k in call.keywords} if call is not None else {}
    created, kept = options.get("create_graph"), options.get("retain_graph")
    if call is None or (created is not None and spelled(created.value) == "True"):
        return
    if created is None and kept is not None and spelled(kept.value) == "True":
        edit = where.editor.replace(kept, "create_graph=True")
    else:
        edit = with_keyword(where.editor, call, "create_graph")
    title = f"Give the gradients of line {call.lineno} a graph of their own"
    yield Proposal("create-graph", title, (edit,), "", rank)
