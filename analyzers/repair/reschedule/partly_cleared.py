"""Fix gradients of which a step uses only the last of several backward calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.evidence import SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.blocks import joined
from analyzers.repair.reschedule.clearing import clear_before_backward, optimizer_stepped
from analyzers.repair.reschedule.stepping import step_after_backward
from analyzers.source.calls import ZERO_GRAD, calls_of, gradients_read, receivers_of, steps
from analyzers.source.project import Project, spelled
from analyzers.source.statement_ranges import statements_after

PARTLY = "of the calls before each step only the last one counts: the others' gradients are cleared"


def clears_each_call(fault: SilentFault, project: Project) -> Sequence[ast.Expr]:
    """Return the statements that clear the gradients before or after each backward call, whereas
    the step comes after several of them.

    Return nothing if the script reads gradients: then it may gather them itself; nor if the step
    is given a closure, which it calls several times.
    """
    step, backward = _places(fault, project)
    if step is None or backward is None or backward.block is step.block:
        return []
    if step.module is not backward.module or any(
        any(gradients_read(m)) for m in project.modules.values()
    ):
        return []
    if any(
        call.args and optimizer_stepped(step) in receivers_of([call])
        for call in steps(step.statement)
    ):
        return []
    return [s for s in backward.block if isinstance(s, ast.Expr) and calls_of(s, *ZERO_GRAD)]


def clear_elsewhere(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Propose to step after the backward call, else to clear the gradients before it; where several
    calls are to be added up, to clear after the step.
    """
    where = resolve_location(project, fault.at)
    if fault.detail == PARTLY:
        yield from clear_after_step(fault, project)
    elif where is not None:
        moved = list(step_after_backward(where))
        yield from moved or clear_before_backward(where, again=True)


def clear_after_step(fault: SilentFault, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that clears after the step instead of with each backward call."""
    step, _ = _places(fault, project)
    clears = clears_each_call(fault, project)
    if step is None or not clears:
        return
    edits = step.editor.delete_all(clears)
    following = statements_after(step.module, step.statement)
    if not any(calls_of(s, *ZERO_GRAD) for s in following):
        lines = [spelled(clear.value) for clear in clears]
        edits.append(step.editor.insert_after(step.statement, *lines))
    yield Proposal("zero-grad", "Clear the gradients after each step", joined(edits), "", 0)


def _places(
    fault: SilentFault, project: Project
) -> tuple[SourceLocation | None, SourceLocation | None]:
    at = fault.call.at if fault.call is not None else None
    return resolve_location(project, fault.at), resolve_location(project, at)
