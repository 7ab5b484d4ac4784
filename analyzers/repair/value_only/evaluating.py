"""Fix an evaluation that keeps graphs: it needs none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import reaching, resolve_location
from analyzers.repair.blocks import wrapped
from analyzers.repair.leaf.leaves import no_grad_header, no_grad_on
from analyzers.source.backward import BACKWARD_CALLS
from analyzers.source.project import Project


def evaluated_without_graph(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield proposals that put under `no_grad` the function that calls a model without a backward
    call; if it may call backward at another time, the outermost loop that does not.
    """
    where = resolve_location(project, fault.at)
    if fault.call is not None or where is None:
        return
    edit, rank = None, -1
    loops = where.module.loops_around(where.statement)
    loops = [loop for loop in loops if not reaching(project, loop, *BACKWARD_CALLS)]
    function = where.scope
    if isinstance(function, ast.FunctionDef) and not reaching(project, function, *BACKWARD_CALLS):
        title, edit = f"Run `{function.name}`", no_grad_on(where.module, function)
    elif loops:
        title, rank = "Run the loop", 1  # all of its lines change
        edit = wrapped(where.editor, loops[-1:], no_grad_header(where.module))
    if edit is not None:
        yield Proposal("no-grad-evaluation", f"{title} without graphs", (edit,), "", rank)
