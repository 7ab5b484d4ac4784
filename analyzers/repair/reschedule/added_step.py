"""Fix an optimizer that never steps: the step after the backward call that feeds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.source.backward import backward_root
from analyzers.source.calls import (
    CLIPPING,
    ZERO_GRAD,
    calls_of,
    operations_in,
    reads_gradient,
    receivers_of,
)
from analyzers.source.edits import Editor
from analyzers.source.flow import names_bound
from analyzers.source.optimizer_steps import never_stepped, uncalled_steps
from analyzers.source.project import Project, spelled
from analyzers.source.signatures import own_names

UNSTEPPED = "unstepped-parameters"
"""The kind of silent fault: an optimizer never steps what backward calls give gradients."""


def optimizer_unstepped(fault: SilentFault, project: Project) -> str | None:
    """Return the name of the fault's optimizer, if the script never steps it."""
    made = resolve_location(project, fault.optimizer_at)
    return never_stepped(project, made.statement) if made is not None else None


def step_after_backward(evidence: Evidence, project: Project) -> Iterator[Proposal]:
    """Yield a proposal that calls the step which is only named, else one that adds it after the
    backward call and after what clips or reads the gradients.
    """
    if not isinstance(evidence, SilentFault) or evidence.kind != UNSTEPPED:
        return
    name = optimizer_unstepped(evidence, project)
    where = resolve_location(project, evidence.seen_at)
    if name is None or where is None:
        return
    title = f"Step `{name}` after the backward"
    called = [Editor(m).append_to(node, "()") for m, node in uncalled_steps(name, project)]
    if called:
        yield Proposal("add-step", title, tuple(called))
    elif known := _known_as(name, where):
        edit = where.editor.insert_after(_last_use(where), _step_of(known, where))
        yield Proposal("add-step", title, (edit,))


def _last_use(where: SourceLocation) -> ast.stmt:
    """Return the last statement of the block that uses the gradients before anything clears them:
    the backward call itself, or what clips them.
    """
    used = where.statement
    for statement in where.block[where.block.index(used) + 1 :]:
        if calls_of(statement, *ZERO_GRAD):
            break
        if operations_in(statement, CLIPPING) or reads_gradient(statement):
            used = statement
    return used


def _known_as(name: str, where: SourceLocation) -> str | None:
    """Return what the function of a statement calls the optimizer: its own name, else the only one
    that it clears.
    """
    cleared = receivers_of(calls_of(where.scope, *ZERO_GRAD))
    if name in cleared or (not cleared and _is_readable(name, where)):
        return name
    return min(cleared) if len(cleared) == 1 else None


def _is_readable(name: str, where: SourceLocation) -> bool:
    root = name.partition(".")[0]
    return root in own_names(where.scope) or root in names_bound(where.module.tree)


def _step_of(name: str, where: SourceLocation) -> str:
    """Return the call that steps it: the scaler's, if the loss is scaled."""
    call = where.call("torch.Tensor.backward")
    match backward_root(call) if call is not None else None:
        case ast.Call(func=ast.Attribute(value=scaler, attr="scale")):
            return f"{spelled(scaler)}.step({name})"
    return f"{name}.step()"
