"""Gradients with a graph of their own: where a loss is made of derivatives."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import Spot
from analyzers.repair.rewrite import with_keyword
from analyzers.source.project import spelled


def differentiable_gradients(where: Spot, rank: int = 0) -> Iterator[Proposal]:
    """`create_graph=True` for the call of `autograd.grad` where a graph ended."""
    call = where.call("grad")
    if call is None or any(
        k.arg == "create_graph" and spelled(k.value) == "True" for k in call.keywords
    ):
        return
    edit = with_keyword(where.editor, call, "create_graph")
    title = f"Give the gradients of line {call.lineno} a graph of their own"
    yield Proposal("create-graph", title, (edit,), "", rank)
