"""Drop one of two backward calls that give the same gradient.

`loss.backward(); loss.backward()` becomes `loss.backward()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.edit_search.circumstances import second_use
from analyzers.source.backward import backward_calls
from analyzers.source.calls import own_calls
from analyzers.source.project import Project
from provenance import BackwardCall

_TRADEOFF = "The original would have counted this loss twice."


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the script without either call, if both have the same root."""
    use = second_use(evidence, project)
    if use is not None and use.same_pass and use.reuse.same_root:
        yield from without_call(use.reuse.reached, "second", project, rank=0)
        yield from without_call(use.reuse.freed, "first", project, rank=1)


def without_call(
    backward_call: BackwardCall, which: str, project: Project, rank: int
) -> Iterator[Proposal]:
    """Yield a proposal that removes a call's statement, or the call of a function that only makes
    it; nothing if the call is part of a larger statement.
    """
    where = resolve_location(project, backward_call.at)
    if where is None or not backward_calls(where.statement):
        return
    caller = (
        resolve_location(project, backward_call.stack[-2]) if len(backward_call.stack) > 1 else None
    )
    name = getattr(where.scope, "name", "")
    alone = getattr(where.scope, "body", ()) == [where.statement]
    if alone and caller is not None and own_calls(caller.statement, name):
        where = caller if isinstance(caller.statement, ast.Expr) else where
    edit = where.editor.delete(where.statement)
    title = f"Take out the {which} backward of the same loss"
    yield Proposal(f"drop-{which}-backward", title, (edit,), _TRADEOFF, rank)
