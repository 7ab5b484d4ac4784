"""The loss has no graph: something between the model and the loss cut the gradient off.

What happens: `loss.backward()` raises "element 0 of tensors does not require grad". A value lost
its graph: through `.item()`, `.data`, `.detach()` or NumPy; through `torch.tensor(losses)`, which
copies numbers, not graphs; through `argmax`, `round` or a comparison, which have no gradient;
because everything ran under `no_grad`; or because the parameters that should learn are still frozen
for another network's step. One term of a sum may lose its graph silently: it adds a number to the
loss, but no gradient. `loss.requires_grad_(True)` silences the error and fixes nothing: the loss is
then a leaf, and a backward from it reaches no parameter.

Why: a backward follows the operations that made a tensor. A plain number, or a tensor made from
numbers, has no such operations.

The fix: keep tensors until the backward is done, `torch.stack(losses)` for a list of them, and use
`.item()` only for logging. For class decisions, use a differentiable loss on the scores.

When this fix is wrong: when the value was a constant on purpose (a target, a weight) and another
part of the loss should have learnt. `loss.requires_grad_()` is never the fix.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    x = torch.randn(8, 3)
    losses = [model(row).pow(2).mean() for row in x]
    loss = torch.tensor(losses).sum()
    loss.backward()

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    x = torch.randn(8, 3)
    losses = [model(row).pow(2).mean() for row in x]
    loss = torch.stack(losses).sum()
    loss.backward()
"""

from __future__ import annotations

import ast
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph, SilentFault
from analyzers.explain.listed import some
from analyzers.explain.missing import kind_of, lost_name, matched
from analyzers.explain.pattern import GraphCarrier, Match, evidence_in
from analyzers.explain.reasons import Reason, reason_of
from analyzers.explain.reuse.describe import line
from analyzers.explain.sentences import missing
from analyzers.explain.silent_matches import matched as matched_silent
from analyzers.explain.silent_matches import silent
from analyzers.explain.source_locations import SourceLocation, resolve_location
from analyzers.repair.edit_search.uncut import CONSTANT
from analyzers.repair.reconnect.enable_recording import (
    left_off,
    switched_off_at,
    where_switched_off,
)
from analyzers.repair.reconnect.freezing import left_frozen
from analyzers.repair.reconnect.frozen_modules import frozen_whole
from analyzers.source.flow import bindings
from analyzers.source.project import Project
from analyzers.source.recording import recorded
from analyzers.source.samples import is_scored, means_numbers

ID = "GM021"
NAME = "detached-loss"
FAMILY = "no-grad"
TITLE = "The loss has no graph behind it"
TITLE_OF_TERM = "A term of the loss has no graph behind it"
TITLE_OF_SAMPLE = "A sample that the loss is computed from passes no gradient on"
SAMPLED = "a sample has no gradient, although its distribution is trained"
KIND = "detached"
SEEN_AS = CONSTANT

_WORDS = {
    "item": "`.item()` gives a plain number",
    "data": "`.data` gives the numbers alone",
    "detach": "`.detach()` cuts it",
    "tensor": "`torch.tensor` copies numbers, not graphs",
    "as_tensor": "`torch.as_tensor` copies numbers, not graphs",
    "numpy": "NumPy has no graph",
    "no_grad": "recording is switched off there",
    "argmax": "`argmax` has no gradient",
    "grad": "`autograd.grad` gives gradients without a graph of their own",
    "frozen": "what used to learn was frozen there and still is",
}
_BY_REASON = {
    "constant": "the derivative is a constant",
    "flag": "a flag that is set on a module only makes an attribute",
    "list": "a custom Function follows no tensor within a list",
    "transform": "a transform of `torch.func` hands it over without one",
    "evaluation": "a trainer evaluates without recording",
    "inference": "what inference mode computes never has one",
}
_REMEDIES = {
    "item": "keep the tensor until backward() is done; `.item()` is for printing.",
    "data": "use the tensor itself; `.data` is for writing under `torch.no_grad()`.",
    "detach": "leave `.detach()` out of what is to learn.",
    "tensor": "use the tensor itself, or `torch.stack` a list of tensors.",
    "as_tensor": "use the tensor itself, or `torch.stack` a list of tensors.",
    "numpy": "compute it with torch's own functions.",
    "no_grad": "compute what is to learn outside of `torch.no_grad()`.",
    "argmax": "take a differentiable loss of the scores themselves.",
    "grad": "pass `create_graph=True` to the call of `autograd.grad`.",
}


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a backward call from a tensor without a graph, or a loss term that moves no weight."""
    if (fault := silent(evidence, SEEN_AS)) is not None:
        where = resolve_location(project, fault.at) if fault.params else None
        names = bindings(where.statement) if where is not None else []
        carrier = GraphCarrier(names[0], where.place) if names and where is not None else None
        sample = fault.detail == SAMPLED
        if sample and (means_numbers(project) or not _is_recorded(where) or _is_scored(where)):
            return None  # it learns by its score, or nothing should be passed on
        title = TITLE_OF_SAMPLE if sample else TITLE_OF_TERM
        return matched_silent(NAME, fault, None, carrier, title) if fault.params else None
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "detached":
        return None
    certainty = Certainty.CERTAIN if evidence.ended_at is not None else Certainty.LIKELY
    where = where_switched_off(evidence.ended_stack, project)
    off = switched_off_at(where) if where is not None else None
    place = replace(where.place, line=off) if where is not None and off else None
    if place is None and evidence.lost_by == "no_grad":
        place = next((one.place for one in left_off(project)), None)
    if evidence.ended_at is None and evidence.lost_by == "unknown":
        place = frozen_whole(project)
    if (frozen := left_frozen(evidence, project)) is not None:
        place = frozen.where.place
    carrier = lost_name(evidence, project) if evidence.lost_by != "frozen" else None
    if (reason := reason_of(evidence, project)) is not None and frozen is None:
        place, certainty = reason.place, Certainty.LIKELY
    found = matched(NAME, evidence, certainty, place, carrier)
    if found is None:
        return None
    found.facts["reason"] = reason
    known = _REMEDIES.get(evidence.lost_by, "")
    if evidence.lost_by == "no_grad" and off is None:
        known = ""
    remedy = reason.remedy if reason is not None else known
    return replace(found, remedy=remedy, title=_with_reason(evidence, reason))


def _is_scored(where: SourceLocation | None) -> bool:
    return where is not None and is_scored(where.module, where.statement)


def _is_recorded(where: SourceLocation | None) -> bool:
    return where is None or recorded(where.module, where.statement)


def _with_reason(evidence: MissingGraph, reason: Reason | None) -> str:
    """Return the title with what cut the graph; '' if that is not known."""
    why = _BY_REASON[reason.kind] if reason is not None else _why(evidence)
    return f"The loss has no graph: {why}" if why else ""


def _why(evidence: MissingGraph) -> str:
    """Return what the operation at which the graph ended does to it; '' if that is not known."""
    if evidence.lost_by == "unknown":
        return ""
    return _WORDS.get(evidence.lost_by, f"`{evidence.lost_by}` has no gradient")


def explain(match: Match, project: Project) -> str:
    """Explain which tensor has no graph, and what cut it off."""
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == SAMPLED:
        return (
            f"The loss is computed from the sample of {line(match.location, project)}, which "
            f"passes no gradient on to {some(match.evidence.params)}: other terms alone train them."
        )
    if isinstance(match.evidence, SilentFault):
        return (
            f"A term of the loss is computed from {some(match.evidence.params)}, but its graph is "
            f"cut at {line(match.location, project)}: it adds a number to the loss, and no "
            "gradient."
        )
    evidence = evidence_in(match, MissingGraph)
    reason = match.facts.get("reason")
    if isinstance(reason, Reason):
        return (
            f"{missing(match, project)} At {line(reason.place, project)}, {reason.why}. To fix "
            f"it, {reason.remedy}"
        )
    why = _why(evidence)
    text = missing(match, project) + (f" The graph ends there: {why}." if why else "")
    switches = left_off(project) if evidence.lost_by == "no_grad" else ()
    off = next((one for one in switches if one.place == match.location), None)
    if off is not None and isinstance(off.statement, ast.With):
        name = getattr(off.scope, "name", "")
        text += f" `{name}` yields within {line(off.place, project)}, which goes on meanwhile."
    return text
