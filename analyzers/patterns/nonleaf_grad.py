"""The `.grad` of a tensor that is not a leaf was read, or an optimizer was given such a tensor.

What happens: the tensor is the result of an operation: an activation, an embedding's output,
`image.requires_grad_().unsqueeze(0)`, `torch.randn(..., requires_grad=True) * 0.1`. A backward
passes its gradient on and stores nothing there, so `.grad` is None; an optimizer refuses it. The
`.grad` of a leaf is also None if it is read at the wrong time: before `loss.backward()`, or after
`optimizer.zero_grad()`, which sets it to None since torch 2.0.

Why: gradients are stored only at leaves, because storing all of them would fill the memory.

The fix: for an input that should be learnt or explained, apply the operation first and
`requires_grad_()` last, so that the result is the leaf; an optimizer accepts nothing else. To read
an activation's gradient, call `retain_grad()` on the activation before the backward. Read a leaf's
gradient between the backward and the clearing.

When this fix is wrong: when the gradient of the original is meant, before the operation. Then read
`.grad` there. `retain_grad()` on a clone made for the purpose gives zero or nothing.

Broken::

    import torch

    model = torch.nn.Linear(4, 1)
    image = torch.rand(4).requires_grad_().unsqueeze(0)
    model(image).sum().backward()
    print(image.grad.abs())

Fixed::

    import torch

    model = torch.nn.Linear(4, 1)
    image = torch.rand(4).unsqueeze(0).requires_grad_()
    model(image).sum().backward()
    print(image.grad.abs())
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph, SilentFault
from analyzers.explain.missing import kind_of, matched
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.reuse.describe import line
from analyzers.explain.sentences import missing
from analyzers.explain.silent_matches import matched as matched_silent
from analyzers.explain.silent_matches import silent
from analyzers.explain.source_locations import resolve_location
from analyzers.messages import entry_of
from analyzers.repair.leaf.reading_time import READ_AS_NONE, shown_alone
from analyzers.source.project import Project, spelled

ID = "GM024"
NAME = "nonleaf-grad"
FAMILY = "no-grad"
TITLE = "The gradient of a tensor that is not a leaf"
TITLE_OF_TIME = "A gradient is read where it is None"
KIND = "nonleaf"
SEEN_AS = READ_AS_NONE
_EARLY = "read before a backward has given it one"  # as the tracer says


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a gradient that is read where none is kept, or at a time when there is none."""
    if (fault := silent(evidence, SEEN_AS)) is not None:
        where = resolve_location(project, fault.at)
        shown = shown_alone(where, project) if where is not None else None
        if where is None or shown is None:
            return None
        carrier = GraphCarrier(spelled(shown), where.place)
        return matched_silent(NAME, fault, where.place, carrier, TITLE_OF_TIME)
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "nonleaf":
        return None
    entry = entry_of(evidence.message)
    switched = "requires_grad flags" in evidence.message
    found = matched(NAME, evidence, Certainty.CERTAIN, evidence.at if switched else None)
    if found is None or entry is None:
        return found
    return replace(found, title=entry.title, remedy=entry.causes[0].do if switched else "")


def explain(match: Match, project: Project) -> str:
    """Explain which tensor it is and which operation made it, or why it has none at that time."""
    if isinstance(match.evidence, SilentFault):
        name = match.carrier.name if match.carrier is not None else "the gradient"
        early = match.evidence.detail == _EARLY
        why = "it is read before the backward that gives it one"
        why = why if early else "it was cleared just before: `zero_grad()` sets it to None"
        return f"`{name}` is None each time that {line(match.location, project)} reads it: {why}."
    return missing(match, project) + " It is the result of an operation, so no gradient is kept."
