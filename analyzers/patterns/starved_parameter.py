"""A trainable parameter never gets a gradient: something cuts it off from the loss.

What happens: the script runs and the loss falls, but a part of the model does not change. Its
output goes through `.detach()`, `.data`, `.item()` or a block under `no_grad`, or a distribution is
sampled with `sample()`, so that no path leads from the loss to the part. Or the optimizer holds
other tensors than those that the loss depends on: it was made before a new head, before other
layers were unfrozen, for a copy, or for the members of a stacked ensemble. Or layers are in a plain
list, which their module does not search.

Why: for autograd, a cut is not an error. The other parameters learn and hide it. An optimizer
changes the tensors that it was given, not the tensors that now have their names.

The fix: remove the cut; use `rsample()` instead of `sample()`, and torch functions on the parameter
instead of plain numbers; make the optimizer after its parameters are replaced, and of those that
should learn.

When this fix is wrong: when the part is frozen on purpose. Then declare it with
`requires_grad_(False)`, and leave it out of the optimizer.

Broken::

    import torch

    model = torch.nn.ModuleDict({"encoder": torch.nn.Linear(3, 4), "head": torch.nn.Linear(4, 1)})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        code = model["encoder"](torch.randn(8, 3)).detach()
        optimizer.zero_grad()
        model["head"](code).pow(2).mean().backward()
        optimizer.step()

Fixed::

    import torch

    model = torch.nn.ModuleDict({"encoder": torch.nn.Linear(3, 4), "head": torch.nn.Linear(4, 1)})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        code = model["encoder"](torch.randn(8, 3))
        optimizer.zero_grad()
        model["head"](code).pow(2).mean().backward()
        optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, KnownError, MissingGraph, SilentFault
from analyzers.explain import missing
from analyzers.explain.kept_parameters import UNHELD, reason_to_stay
from analyzers.explain.listed import some
from analyzers.explain.missing import kind_of
from analyzers.explain.pattern import GraphCarrier, Match, Proposal
from analyzers.explain.reuse.describe import line
from analyzers.explain.sentences import measured
from analyzers.explain.silent_matches import ZERO_LOSS, ZEROS, matched, silent
from analyzers.explain.source_locations import resolve_location
from analyzers.explain.target_networks import is_of_target_network
from analyzers.repair.blocks import joined
from analyzers.repair.leaf.rebinding import leaves_renewed
from analyzers.repair.reconnect.enable_recording import (
    recording,
    switched_off_at,
    where_switched_off,
)
from analyzers.repair.reconnect.freezing import frozen_among, unfrozen
from analyzers.repair.reconnect.missing_gradients import Cut, cuts_of_fault
from analyzers.repair.reconnect.moving_optimizers import holders
from analyzers.repair.reconnect.optimizing import FROZEN, optimizer_of_what_learns, owner_path
from analyzers.repair.reconnect.registering import registered
from analyzers.repair.reconnect.restore_gradient_flow import fed_again
from analyzers.repair.reconnect.round_trips import round_trips
from analyzers.repair.reconnect.uncutting import without_cut
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM031"
NAME = "starved-parameter"
FAMILY = "silent"
SHOWN_AS = "starved"
TITLE = "A trainable parameter never gets a gradient"
TITLE_OF_OTHERS = "An optimizer holds other tensors than those that learn"
TITLE_OF_FROZEN = "All that an optimizer holds is frozen"
TITLE_OF_UNHELD = "Parameters get gradients, and no optimizer holds them"
ELSEWHERE = "backward calls of others give them gradients, and the one before their step does not"
SEEN_AS = "unfed-parameters"
KIND = "no-inf-checks"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match parameters of an optimizer that backward never reached; a cut on the path is the
    place."""
    if isinstance(evidence, MissingGraph):
        return _missed(evidence, project)
    fault = silent(evidence, SEEN_AS) or silent(evidence, UNHELD)
    if fault is None:
        return None
    if fault.detail == ZERO_LOSS:
        return None  # as it should be
    if not fault.params and reason_to_stay(fault.instead, fault.kind, project, fault.detail):
        return None
    if fault.params and all(is_of_target_network(name, project) for name in fault.params):
        return None  # what follows another network is not to learn
    if fault.detail == FROZEN:
        where = frozen_among(fault.params, project)
        at = where.place if where is not None else fault.optimizer_at
        carrier = GraphCarrier(owner_path(fault.params), at) if at is not None else None
        return matched(NAME, fault, at, carrier, TITLE_OF_FROZEN)
    replaced = fault.optimizer_at is not None and not set(fault.params).isdisjoint(fault.instead)
    if replaced and any(leaves_renewed(fault, project)):
        return None  # the update is at fault
    cuts = list(cuts_of_fault(fault, project)) if not replaced else []
    if fault.optimizer_at is not None and not cuts:
        carrier = GraphCarrier(owner_path(fault.instead), fault.optimizer_at)
        title = TITLE_OF_UNHELD if fault.kind == UNHELD else TITLE_OF_OTHERS
        made = resolve_location(project, fault.optimizer_at) if fault.kind == UNHELD else None
        if made is not None and (twice := holders(made)):
            fault = replace(fault, optimizer_at=twice[-1].place)
        return matched(NAME, fault, fault.optimizer_at, carrier, title)
    if fault.doubtful:  # no call uses them, but their values are read
        cuts = [cut for cut in cuts if cut.own]
    if fault.doubtful and not cuts:
        return None
    if not cuts:
        backward_root = fault.call.root if fault.call is not None else ()
        at = fault.seen_at
        return matched(
            NAME, fault, at, GraphCarrier(backward_root[0], at) if backward_root and at else None
        )
    through = round_trips(cuts[0].where, project)
    at = cuts[0].place
    if len(through) == 1:
        module, call = through[0]
        at = CodeLine(module.path, call.lineno)
    found = matched(NAME, fault, at, cuts[0].carrier)
    if found is not None:
        found.facts["cuts"] = cuts
    return found


def _missed(evidence: MissingGraph, project: Project) -> Match | None:
    """Match a gradient that the script reads as None, if a run recorded where it was lost."""
    if kind_of(evidence, project) != "starved":
        return None
    where = where_switched_off(evidence.ended_stack, project)
    off = switched_off_at(where) if where is not None else None
    place = CodeLine(where.module.path, off) if where is not None and off else None
    return missing.matched(NAME, evidence, Certainty.CERTAIN, place)


def explain(match: Match, project: Project) -> str:
    """Explain which parameters are cut off where."""
    if isinstance(match.evidence, MissingGraph):
        name = f"`{match.carrier.name}`" if match.carrier else "a parameter"
        return (
            f"The gradient of {name} is None where the script reads it: "
            f"{line(match.location, project)} cuts the graph of what is computed from it."
        )
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == FROZEN:
        made = match.evidence.optimizer_at
        where = f" created at {line(made, project)}" if made is not None else ""
        by = f", by {line(match.location, project)}" if match.location != made else ""
        fed = match.evidence.instead
        others = f" Backward calls give gradients to {some(fed)}, which it lacks." if fed else ""
        return (
            f"The optimizer{where} holds {some(match.evidence.params)}. All of it is frozen at "
            f"each of its steps{by}: no backward gives it a gradient, and no step changes it."
            f"{others}"
        )
    if isinstance(match.evidence, SilentFault) and match.location == match.evidence.optimizer_at:
        fed = match.evidence.instead
        if match.evidence.kind == UNHELD:
            return (
                f"Backward calls give gradients to {some(fed)}. Neither the optimizer created at "
                f"{line(match.location, project)} nor any other was given them, so no step "
                "changes them. If that is meant, freeze them with `requires_grad_(False)`."
            )
        if match.evidence.detail and not match.evidence.params:
            return (
                f"Gradients reach {some(fed)}, but no optimizer holds them, so no step changes "
                f"them. {match.evidence.detail[0].upper()}{match.evidence.detail[1:]}: what is "
                f"created at {line(match.location, project)} was not given them."
            )
        if not match.evidence.params:
            return (
                f"The optimizer created at {line(match.location, project)} does not hold "
                f"{some(fed)}, which were created, replaced or unfrozen after it. Gradients reach "
                "them, but no step changes them."
            )
        return (
            f"The optimizer created at {line(match.location, project)} holds "
            f"{some(match.evidence.params)} as they were then, and no gradient reaches those now. "
            f"Gradients reach {some(fed)}, which no optimizer holds, so no step changes them."
        )
    text = f"No gradient reaches these parameters. {measured(match, project)}"
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == ZEROS:
        text = "Gradients come to these parameters through a step whose derivative is zero. "
        text += measured(match, project)
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == ELSEWHERE:
        text = _without_own_backward(match, match.evidence, project)
    dropped = next((cut.unpassed for cut in _cuts(match)), None)
    if dropped is not None:
        text += f" What is made of them goes to `{dropped.function.name}` as `{dropped.name}`, "
        text += "which neither reads it nor hands it on."
    return text


def _without_own_backward(match: Match, fault: SilentFault, project: Project) -> str:
    """Explain that the parameters get gradients from a backward call that is meant for others."""
    backward_call = fault.call
    last = f" at {line(backward_call.at, project)}" if backward_call is not None else ""
    return (
        f"No step finds a gradient at {some(fault.params)}: the backward before it{last} does not "
        "reach them. Another backward does, and what it leaves there is cleared before the step. "
        f"The place to look at is {line(match.location, project)}."
    )


def _cuts(match: Match) -> list[Cut]:
    """Return the cuts that `match` found on the path, the likeliest first."""
    found = match.facts.get("cuts", [])
    assert isinstance(found, list)
    return [cut for cut in found if isinstance(cut, Cut)]


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """Propose to remove each cut, or all of them."""
    if isinstance(match.evidence, KnownError):
        lost = resolve_location(project, match.location)
        yield from without_cut(lost) if lost is not None else ()
        return
    if isinstance(match.evidence, MissingGraph):
        lost = where_switched_off(match.evidence.ended_stack, project)
        lost = lost or resolve_location(project, match.evidence.ended_at)
        if lost is not None:
            yield from without_cut(lost)
            yield from recording(lost, project)
        return
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == FROZEN:
        yield from optimizer_of_what_learns(match.evidence, project)
        frozen = resolve_location(project, match.location)
        yield from unfrozen(frozen) if frozen is not None else ()
        return
    if isinstance(match.evidence, SilentFault) and match.location == match.evidence.optimizer_at:
        if not match.evidence.params and match.evidence.detail:
            yield from registered(match.evidence, project)
        yield from optimizer_of_what_learns(match.evidence, project)
    cuts = _cuts(match)
    singles = [list(fed_again(cut, project, rank)) for rank, cut in enumerate(cuts)]
    yield from chain(*singles)
    if len(cuts) > 1 and all(singles):
        edits = joined(edit for single in singles for edit in single[0].edits)
        title = "Keep the graph all along the way to the loss"
        yield Proposal("keep-graph", title, edits, "", len(cuts))
