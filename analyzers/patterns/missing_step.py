"""Backward calls give an optimizer's parameters gradients, and no step uses them.

What happens: `loss.backward()` computes gradients, and `optimizer.step()` is missing, or lacks its
parentheses. Nothing is raised. No parameter changes, so the loss only varies with the data. A
scheduler's `step()` changes the learning rate and trains nothing.

Why: backward only computes gradients. A parameter changes when its optimizer steps.

The fix: call `optimizer.step()` after the backward, and after what clips the gradients.

When this fix is wrong: if the script wants no more than gradients. Then it needs no optimizer.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.listed import some
from analyzers.explain.pattern import GraphCarrier, Match, evidence_in
from analyzers.explain.reuse.describe import line
from analyzers.explain.silent_matches import matched, silent
from analyzers.repair.reschedule.added_step import (
    UNSTEPPED,
    optimizer_unstepped,
    step_after_backward,
)
from analyzers.source.optimizer_steps import uncalled_steps
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM051"
NAME = "missing-step"
FAMILY = "silent"
SHOWN_AS = "unstepped"
TITLE = "No step uses the gradients"
SEEN_AS = UNSTEPPED
PREFERS = (step_after_backward,)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match an optimizer that the script never steps, at the backward call that feeds it."""
    fault = silent(evidence, SEEN_AS)
    name = optimizer_unstepped(fault, project) if fault is not None else None
    if fault is None or fault.seen_at is None or name is None:
        return None
    named = next(uncalled_steps(name, project), None)
    at = CodeLine(named[0].path, named[1].lineno) if named is not None else fault.seen_at
    return matched(NAME, fault, at, GraphCarrier(name, at))


def explain(match: Match, project: Project) -> str:
    """Explain which optimizer never steps, and what it holds."""
    fault = evidence_in(match, SilentFault)
    name = match.carrier.name if match.carrier is not None else "the optimizer"
    at, named = fault.seen_at, ""
    if at is not None and match.location != at:
        named = f" The parentheses of its call are missing at {line(match.location, project)}."
    return (
        f"The backward{f' at {line(at, project)}' if at is not None else ''} gives gradients to "
        f"{some(fault.params) or 'the parameters'}, and nothing calls `{name}.step()`: no "
        f"parameter changes.{named}"
    )
