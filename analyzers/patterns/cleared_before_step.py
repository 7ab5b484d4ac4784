"""Gradients are cleared between the backward that computes them and the step.

What happens: the script runs, but the weights do not change. `optimizer.zero_grad()` comes after
`loss.backward()`, or `optimizer.step()` comes before it: the step finds None at every parameter and
skips it. If the step finds zeros instead, an optimizer with momentum or weight decay still moves
its weights, in no useful direction.

Why: a gradient exists from the backward that computes it until it is cleared. An optimizer skips a
parameter whose `.grad` is None, and raises nothing.

The fix: clear, then backward, then step, in this order. To add up the gradients of several backward
calls, clear once, before the first of them: with a `zero_grad()` for every micro-batch, the step
uses only the gradients of the last.

When this fix is wrong: when the script stored the gradients elsewhere. Then it has to put them back
before the step.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
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
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.reschedule.clearing import optimizer_stepped
from analyzers.repair.reschedule.clearing_leaves import (
    PARTLY,
    clear_elsewhere,
    clears_each_call,
)
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM050"
NAME = "cleared-before-step"
FAMILY = "silent"
SHOWN_AS = "cleared"
TITLE = "Gradients are cleared before the step uses them"
TITLE_OF_SOME = "Gradients of all but the last backward are cleared before the step"
SEEN_AS = "cleared-gradients"
PREFERS = (clear_elsewhere,)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match an optimizer whose steps never find the gradients that backward calls computed."""
    fault = silent(evidence, SEEN_AS)
    where = resolve_location(project, fault.at) if fault is not None else None
    if fault is None or where is None:
        return None
    if fault.detail == PARTLY:
        clears = clears_each_call(fault, project)
        at = CodeLine(where.module.path, clears[0].lineno) if clears else None
        return matched(NAME, fault, at, title=TITLE_OF_SOME) if at is not None else None
    name = optimizer_stepped(where)
    return matched(NAME, fault, fault.at, GraphCarrier(name, where.place) if name else None)


def explain(match: Match, project: Project) -> str:
    """Explain which parameters got a gradient where, and before which step it was cleared."""
    fault = evidence_in(match, SilentFault)
    if fault.detail == PARTLY and fault.call is not None and fault.at is not None:
        calls = max(fault.figures, default=1) + 1
        return (
            f"The backward at {line(fault.call.at, project)} is called {calls:g} times before each "
            f"step at {line(fault.at, project)}. Each time {line(match.location, project)} clears "
            "what the call before has computed: the step uses the gradients of the last call alone."
        )
    given = f" at {line(fault.call.at, project)}" if fault.call is not None else ""
    return (
        f"The backward{given} gives gradients to {some(fault.params) or 'the parameters'}. They "
        f"are cleared before the step at {line(match.location, project)}, which finds none there "
        "in any iteration: it changes nothing."
    )
