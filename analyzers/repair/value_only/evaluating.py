"""A fix for what an evaluation keeps with its graph: it needs none."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.spots import spot
from analyzers.repair.blocks import wrapped
from analyzers.repair.leaf.leaves import no_grad_header, no_grad_on
from analyzers.source.edits import Edit
from analyzers.source.flow import backward_calls
from analyzers.source.project import FUNCTIONS, Project


def evaluated_without_graph(
    fault: SilentFault, project: Project, rank: int = -1
) -> Iterator[Proposal]:
    """Where nothing was walked, the function that passes a model under `no_grad`, else its loop."""
    where = spot(project, fault.at)
    if fault.visit is not None or where is None or backward_calls(where.scope):
        return
    edit: Edit | None = None
    if isinstance(function := where.scope, FUNCTIONS[:2]):
        title, edit = f"Run `{function.name}`", no_grad_on(where.module, function)
    elif loops := where.module.loops_around(where.statement)[-1:]:
        title, rank = "Run the loop", rank + 2  # all of its lines change
        edit = wrapped(where.editor, loops, no_grad_header(where.module))
    if edit is not None:
        yield Proposal("no-grad-evaluation", f"{title} without graphs", (edit,), "", rank)
