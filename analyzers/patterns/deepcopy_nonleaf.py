"""`copy.deepcopy` reached a tensor that is not a leaf.

What happens: the copied model, checkpoint or object holds the result of an operation: an attention
map kept for a plot, a loss in a dictionary of best results, a weight that was normalised and stored
as an attribute.

Why: a copy of such a tensor would have to copy its graph or share it. PyTorch does neither
silently.

The fix: store the value without its graph, with `.detach()`, if it is only read. If a weight is
derived from parameters, compute it in each `forward` instead of storing it. If the script computes
further with the copy (a beam of a search), the copy should share the tensors and have its own
lists.

When this fix is wrong: when a later loss uses the stored tensor. A detached tensor passes no
gradient back.

Broken::

    import copy
    import torch

    model = torch.nn.Linear(3, 1)
    loss = model(torch.randn(8, 3)).pow(2).mean()
    best = {"loss": loss, "weights": model.state_dict()}
    saved = copy.deepcopy(best)

Fixed::

    import copy
    import torch

    model = torch.nn.Linear(3, 1)
    loss = model(torch.randn(8, 3)).pow(2).mean()
    best = {"loss": loss.detach(), "weights": model.state_dict()}
    saved = copy.deepcopy(best)
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.missing import kind_of, lost_name, matched
from analyzers.explain.pattern import Match
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.value_only.storing import NAMES
from analyzers.source.calls import operations_in
from analyzers.source.project import Project

ID = "GM020"
NAME = "deepcopy-nonleaf"
FAMILY = "no-grad"
TITLE = "deepcopy of a tensor that has a graph"
CONCLUSION = "A tensor with a graph behind it cannot be copied deeply."
KIND = "deepcopy"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match `deepcopy` of a tensor that is the result of an operation."""
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "deepcopy":
        return None
    made = resolve_location(project, evidence.ended_at)
    computed = made is not None and bool(operations_in(made.statement, NAMES))
    carrier = lost_name(evidence, project) if computed else None  # the layer, and not its weight
    return matched(NAME, evidence, Certainty.CERTAIN, evidence.at, carrier)
