"""A gradient was kept for later, and a later backward changed it.

What happens: `saved = [p.grad for p in model.parameters()]` keeps references, not copies. The next
backward adds into the same tensors, and `zero_grad(set_to_none=False)` clears them, so the saved
gradients change too.

Why: backward accumulates in place, into the tensor that `.grad` already holds.

The fix: keep a copy, `p.grad.clone()`. `torch.autograd.grad` returns new tensors and needs no copy.

When this fix is wrong: when the name should follow the gradient (a view for clipping).

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    kept = []
    for sample in torch.randn(4, 3):
        model.zero_grad(set_to_none=False)
        model(sample).pow(2).mean().backward()
        kept.append(model.weight.grad)
    print(torch.stack(kept).norm(dim=-1))

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    kept = []
    for sample in torch.randn(4, 3):
        model.zero_grad(set_to_none=False)
        model(sample).pow(2).mean().backward()
        kept.append(model.weight.grad.clone())
    print(torch.stack(kept).norm(dim=-1))
"""

from __future__ import annotations

from analyzers.evidence import Evidence
from analyzers.explain.gathered import gathered
from analyzers.explain.keyed_entries import keys_of
from analyzers.explain.old_gradients import taken_as_old
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.sentences import measured
from analyzers.explain.silent_matches import matched, silent
from analyzers.explain.source_locations import names_held, root_of
from analyzers.repair.leaf.aliases import clone_kept, kept_at
from analyzers.source.project import Project

ID = "GM027"
NAME = "aliased-grad"
FAMILY = "silent"
SHOWN_AS = "overwritten"
TITLE = "A kept gradient is changed by a later backward"
SEEN_AS = "overwritten-gradient"
PREFERS = (clone_kept,)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a stored gradient that a later backward call changed."""
    fault = silent(evidence, SEEN_AS)
    if fault is None:
        return None
    kept = kept_at(fault, project)
    if fault.figures and not (taken_as_old(fault, project) or gathered(kept, fault.call)):
        return None
    place = kept[0].place if kept else None
    names = names_held(fault.holders)
    at = place or fault.at
    called = [*sorted(keys_of(names)), *map(root_of, names)]  # an entry's key is more specific
    carrier = GraphCarrier(called[0], at) if called and at is not None else None
    return matched(NAME, fault, place, carrier)


def explain(match: Match, project: Project) -> str:
    """Explain which name is affected, and what changed it."""
    who = f"`{match.carrier.name}`" if match.carrier else "A kept name"
    return f"{who} is the gradient itself, not a copy of it. {measured(match, project)}"
