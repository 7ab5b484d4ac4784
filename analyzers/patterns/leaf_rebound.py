"""An update by hand gave the leaf's name to a new tensor, whose `.grad` is None.

What happens: `w = w - lr * w.grad` computes a new tensor and binds it to `w`. The new tensor is the
result of an operation, not a leaf: the next backward fills the gradient of the old tensor, and
`w.grad` is None. Under `no_grad`, the new tensor does not even require grad, and the next loss has
no graph. In `for p in params:`, the assignment only rebinds the loop variable: nothing is raised,
and no leaf changes. Nothing is raised either if the name gets a new leaf after each step of an
optimizer: the optimizer still holds the first leaf and never steps the new ones.

Why: `=` binds a name; it never writes into a tensor.

The fix: update the leaf itself, under `torch.no_grad()` and in place, and clear its gradient:
gradients add up. If a new tensor is needed, make it a leaf with `.detach().requires_grad_()`.

When this fix is wrong: in meta-learning, where the step itself is differentiated. There the new
tensor must keep its graph, and gradients come from `torch.autograd.grad`.

Broken::

    import torch

    w = torch.zeros(3, requires_grad=True)
    x, y = torch.randn(20, 3), torch.ones(20)
    for _ in range(5):
        loss = (x @ w - y).pow(2).mean()
        loss.backward()
        w = w - 0.1 * w.grad

Fixed::

    import torch

    w = torch.zeros(3, requires_grad=True)
    x, y = torch.randn(20, 3), torch.ones(20)
    for _ in range(5):
        loss = (x @ w - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, GraphReuse, MissingGraph, SilentFault
from analyzers.explain.listed import some
from analyzers.explain.missing import kind_of, lost_name, matched
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.reuse.describe import account, line
from analyzers.explain.reuse.describe import matched as matched_reuse
from analyzers.explain.reuse.features import story_of
from analyzers.explain.sentences import missing
from analyzers.explain.silent_matches import matched as matched_silent
from analyzers.explain.silent_matches import silent
from analyzers.repair.edit_search import leaf
from analyzers.repair.leaf.rebinding import HELD, UNMOVED, updates_of
from analyzers.source.flow import bindings
from analyzers.source.project import Project

ID = "GM022"
NAME = "leaf-rebound"
FAMILY = "no-grad"
TITLE = "A manual update replaced the parameter by a new tensor"
BEFORE = ("recurrent-state", "stored-graph")
KIND = "rebound"
SEEN_AS = UNMOVED
PREFERS = (leaf.edits,)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a missing gradient or graph of a name that an update rebound.

    Also match a rebound name of a loop that never moves a leaf.
    """
    update = next(updates_of(evidence, project), None)
    if isinstance(evidence, SilentFault) and update is not None:
        carrier = GraphCarrier(bindings(update.statement)[0], update.place)
        return matched_silent(NAME, evidence, update.place, carrier)
    story = story_of(evidence, project)
    if story is not None and update is not None:
        return matched_reuse(story, NAME, Certainty.CERTAIN, update.place)
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "rebound":
        return None
    return matched(NAME, evidence, Certainty.CERTAIN, carrier=lost_name(evidence, project))


def explain(match: Match, project: Project) -> str:
    """Explain which name was rebound where."""
    if silent(match.evidence, HELD) is not None and match.carrier is not None:
        return (
            f"An optimizer holds the first `{match.carrier.name}`. At "
            f"{line(match.location, project)}, the name is bound to a new tensor: from then on the "
            "loss is computed from that one, and no step changes it."
        )
    if isinstance(match.evidence, GraphReuse):
        return (
            account(match, project) + " The optimizer holds the leaf of that name as it was before "
            f"{line(match.location, project)}, which binds the name to a new tensor: each update "
            "adds to the graph of the one before."
        )
    if isinstance(match.evidence, SilentFault):
        return (
            f"Gradients reach {some(match.evidence.params)}, but no value changes: at "
            f"{line(match.location, project)}, the loop binds its own name to a new tensor, and "
            "the leaf stays as it is."
        )
    return (
        missing(match, project) + " That assignment makes a new tensor, which is not the leaf "
        "that the backward filled."
    )
