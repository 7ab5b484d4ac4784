"""The `.grad` of a tensor that is not a leaf was read, or an optimizer was given one.

What happens: the tensor is the result of an operation: an activation, an embedding's output,
`image.requires_grad_().unsqueeze(0)`, `torch.randn(..., requires_grad=True) * 0.1`. A backward
passes its gradient on and keeps nothing there, so `.grad` is None; an optimizer refuses it.

Why: gradients are stored at leaves only, since keeping all of them would fill the memory.

The fix: for an activation, call `retain_grad()` on it before the backward. For an input that
should be learnt or explained, apply the operation first and `requires_grad_()` last, so that the
result is the leaf.

When this fix is wrong: when the gradient of the original is meant, before the operation. Then
read `.grad` there. `retain_grad()` on a clone made for the purpose reads zero or nothing.

Broken::

    import torch

    model = torch.nn.Linear(4, 1)
    image = torch.rand(4).requires_grad_().unsqueeze(0)
    model(image).sum().backward()
    print(image.grad.abs())

Mended::

    import torch

    model = torch.nn.Linear(4, 1)
    image = torch.rand(4).unsqueeze(0).requires_grad_()
    model(image).sum().backward()
    print(image.grad.abs())
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.missing import kind_of, matched
from analyzers.explain.pattern import Match, Proposal, evidence_in
from analyzers.explain.sentences import missing
from analyzers.repair.leaf.leafhood import detached_instead, keep_gradient, leaf_last
from analyzers.source.project import Project

ID = "GM024"
NAME = "nonleaf-grad"
FAMILY = "no-grad"
TITLE = "The gradient of a tensor that is not a leaf"
KIND = "nonleaf"


def match(evidence: Evidence, project: Project) -> Match | None:
    """A gradient was read, or asked for, where none is kept."""
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "nonleaf":
        return None
    switched = "requires_grad flags" in evidence.message
    return matched(NAME, evidence, Certainty.CERTAIN, evidence.at if switched else None)


def explain(match: Match, project: Project) -> str:
    """Which tensor, and which operation made it."""
    return missing(match, project) + " It is the result of an operation, so no gradient is kept."


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """The result detached; or as the leaf; or its gradient kept."""
    evidence = evidence_in(match, MissingGraph)
    yield from detached_instead(evidence, project)
    yield from leaf_last(evidence, project)
    yield from keep_gradient(evidence, project)
