"""Drop one of two backward calls that give the same gradient.

`loss.backward(); loss.backward()` becomes `loss.backward()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, reaching, resolve_location
from analyzers.repair.edit_search.circumstances import SecondUse, second_use
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.calls import OPTIMIZER_STEP, own_calls
from analyzers.source.project import Project
from analyzers.source.reads import attributes_loaded, names_loaded
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import walk
from provenance import BackwardCall

_TRADEOFF = "The original would have counted this loss twice."


def edits(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield the script without either call, if the second gives the gradient of the first again.
    The call that is wanted stays; of one loss it goes last.
    """
    use = second_use(evidence, project)
    if use is None or not use.gives_again:
        return
    calls = ((use.reuse.reached, "second"), (use.reuse.freed, "first"))
    for rank, (backward_call, which) in enumerate(calls):
        other = calls[1 - rank][0]
        wanted = _is_wanted(use, backward_call, other)
        if use.reuse.same_root or not wanted:
            yield from _without_call(backward_call, which, project, rank + 2 * wanted)


def _is_wanted(use: SecondUse, backward_call: BackwardCall, other: BackwardCall) -> bool:
    """Return True if this backward call is the one to keep.

    It is, as a helper's, if the other one is a bare statement of the function that calls the
    helper; or if its root was computed for it alone.
    """
    frame = use.shared.frame if use.shared is not None else 0
    if other.at.frame == frame != backward_call.at.frame:
        return True
    where = resolve_location(use.features.project, backward_call.at)
    if where is not None and _feeds_no_step(use, where):
        return False
    call = where.call("torch.Tensor.backward") if where is not None else None
    root = backward_root(call) if call is not None else None
    match root:
        case ast.Name(id=name) if where is not None and call is not None:
            return len(names_loaded(walk(where.module.scope_of(call)), name)) == 1
        case ast.Attribute(attr=name) if where is not None:
            return len(attributes_loaded(where.module.nodes, name)) == 1
    return False


def _feeds_no_step(use: SecondUse, where: SourceLocation) -> bool:
    """Return True if nothing steps after a call that no loop makes again: it trains nothing."""
    if use.shared is None or use.shared.loops or where.module.loops_around(where.statement):
        return False
    after = statements_after(where.module, where.statement)
    return isinstance(where.scope, ast.Module) and not any(
        reaching(use.features.project, one, OPTIMIZER_STEP) for one in after
    )


def _without_call(
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
    title = f"Remove the {which} backward of the same loss"
    yield Proposal(f"drop-{which}-backward", title, (edit,), _TRADEOFF, rank)
