"""`optimizer.step()` changed weights that a later backward still needs.

What happens: two losses are computed from the same weights. The first loss's backward runs and its
optimizer steps, which writes into the weights. The second backward needs a graph that was made with
the old weights; it finds new ones and raises.

Why: layers save their weights for the gradient of their input, and a step changes the weights in
place. The message mentions an "inplace operation", although the script seems to contain none. With
`retain_graph=True` on a recurrent state, the step changes weights that an earlier iteration's graph
needs.

The fix: compute the second loss after the step, from the current weights; or run all backwards
before the first step. Detach a state that only carries values from iteration to iteration.

When this fix is wrong: if a step moves after the other backward, the gradients of both losses add
up in weights that they share. If the first network should not learn from the second loss, compute
the forward after the step instead.

Broken::

    import torch

    critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    x = torch.randn(16, 4, requires_grad=True)
    first = critic(x).mean()
    second = critic(x + 1).pow(2).mean()
    first.backward()
    optimizer.step()
    second.backward()

Fixed::

    import torch

    critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    x = torch.randn(16, 4, requires_grad=True)
    first = critic(x).mean()
    first.backward()
    optimizer.step()
    second = critic(x + 1).pow(2).mean()
    second.backward()
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.inplace_changes import StaleValue, stale_of
from analyzers.explain.pattern import CrossedBoundary, GraphCarrier, Match
from analyzers.explain.reuse.describe import line
from analyzers.explain.sentences import changed
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.cut.carrying import carried_names
from analyzers.repair.reschedule.schedule import (
    StepBeforeBackward,
    kept_by_library,
    made_before,
    schedule_of,
)
from analyzers.source.backward import BACKWARD_CALLS, backward_root
from analyzers.source.flow import bindings, names_read
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM019"
NAME = "step-between-backwards"
FAMILY = "inplace"
SHOWN_AS = "stepped"
TITLE = "A step changed weights that a later backward needs"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a weight that changed between the forward and its backward call, after another one."""
    stale = stale_of(evidence, project)
    if stale is None or stale.nature != "step":
        return None
    schedule = schedule_of(stale)
    found = stale.matched(NAME, Certainty.CERTAIN if stale.changes else Certainty.LIKELY)
    boundary = _boundary(schedule)
    kept = None if boundary.place is not None else _kept(stale, schedule)
    return replace(
        found,
        location=kept.place if kept is not None else found.location,
        carrier=kept or _carrier(stale, schedule),
        boundary=boundary,
    )


def _carrier(stale: StaleValue, schedule: StepBeforeBackward | None) -> GraphCarrier | None:
    """Return the state that an iteration passes on, or what was computed once for all of them.

    Otherwise return the loss whose backward call is too late.
    """
    backward_call = stale.evidence.reached
    if backward_call is None:
        return None
    saved = stale.evidence.node.at if stale.evidence.node is not None else None
    place = saved or backward_call.at
    if schedule is not None and not schedule.straight:
        if owner := kept_by_library(stale, schedule):
            return GraphCarrier(owner, place, "attribute")
        loops = schedule.loops
        for name in carried_names(loops[0], schedule.roots) if loops else []:
            return GraphCarrier(name, place)
        for name in made_before(loops[0], resolve_location(stale.project, saved)) if loops else []:
            return GraphCarrier(name, place)
    root = [*backward_call.root] or _root_names(resolve_location(stale.project, backward_call.at))
    return GraphCarrier(root[-1], place) if root else None


def _root_names(where: SourceLocation | None) -> list[str]:
    """Return the plain names in a statement's backward root: `(0.3 * loss).backward()`."""
    call = where.call(*BACKWARD_CALLS) if where is not None else None
    tensor = backward_root(call) if call is not None else None
    return sorted(n for n in names_read(tensor) if "." not in n) if tensor is not None else []


def _kept(stale: StaleValue, schedule: StepBeforeBackward | None) -> GraphCarrier | None:
    """Return what an object keeps from call to call, and the statement that stored it.

    That is for several calls of one function that runs backward and steps; the old weights computed
    the value.
    """
    saved = stale.evidence.node.at if stale.evidence.node is not None else None
    where = resolve_location(stale.project, saved)
    if saved is None or where is None or schedule is None or schedule.straight:
        return None
    names = [name for name in bindings(where.statement) if "." in name]
    return GraphCarrier(names[0], saved, "attribute") if names else None


def _boundary(schedule: StepBeforeBackward | None) -> CrossedBoundary:
    if schedule is None or schedule.straight:
        return CrossedBoundary()
    loops = schedule.loops
    path = schedule.where.module.path
    return CrossedBoundary("loop", CodeLine(path, loops[0].lineno)) if loops else CrossedBoundary()


def explain(match: Match, project: Project) -> str:
    """Explain which step changed which weight that which backward needs, and what kept that
    graph."""
    text = changed(match, project) + " That graph was made with the weights from before the step."
    if match.carrier is None or match.boundary.place is None:
        return text
    where = line(match.boundary.place, project)
    return f"{text} `{match.carrier.name}` took it to a later iteration of the loop at {where}."
