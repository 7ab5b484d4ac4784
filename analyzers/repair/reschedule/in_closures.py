"""Fixes for closures that an optimizer calls several times in a step: each call clears first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.clearing import optimizer_stepped, spelled_alone
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.calls import calls_of, steps
from analyzers.source.flow import statements_of
from analyzers.source.project import spelled
from analyzers.source.trees import nodes_of


def backward_in_closure(where: SourceLocation) -> ast.stmt | None:
    """Return the first statement with a backward call in the closure that the step gets, or
    None."""
    calls = steps(where.statement)
    given = {spelled(a) for call in calls for a in (*call.args, *(k.value for k in call.keywords))}
    for node in nodes_of(where.scope, ast.FunctionDef):
        if node.name in given:
            return next(
                (s for s in statements_of(node) if calls_of(s, "torch.Tensor.backward")), None
            )
    return None


def clear_in_closure(where: SourceLocation) -> Iterator[Proposal]:
    """Propose `zero_grad()` before the closure's backward call in place of one before the step."""
    name, backward = optimizer_stepped(where), backward_in_closure(where)
    if name is not None and backward is not None:
        before = where.block[: where.block.index(where.statement)][::-1]
        since = takewhile(lambda s: not (steps(s) or calls_of(s, *BACKWARD_CALLS)), before)
        ahead = [s for s in since if spelled_alone(s).startswith(f"{name}.zero_grad(")]
        edits = [where.editor.insert_before(backward, f"{name}.zero_grad()")]
        edits += [where.editor.delete(s) for s in ahead]
        title = f"Clear the gradients of `{name}` in the closure"
        yield Proposal("zero-grad", title, joined(edits))
