"""An optimizer calls its closure several times, on a loss that was computed outside it.

What happens: LBFGS (like other optimizers that take a closure) evaluates the loss many times in one
`step`. If a closure only calls `backward()` on a loss computed before it, each evaluation runs
through the same graph.

The fix: put forward, loss and backward into the closure, which returns the loss.

When this fix is wrong: never: the optimizer moves the parameters between evaluations, so a loss
from outside would be stale even if its graph still existed.

Broken::

    optimizer = torch.optim.LBFGS(model.parameters())
    loss = criterion(model(x), y)

    def closure():
        optimizer.zero_grad()
        loss.backward()
        return loss

    optimizer.step(closure)

Fixed::

    optimizer = torch.optim.LBFGS(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
"""

from __future__ import annotations

import ast
from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import story_of
from analyzers.explain.reuse.untouched_weights import spared_by_closure
from analyzers.repair.remake.closures import forward_outside
from analyzers.source.backward import backward_root
from analyzers.source.project import Project

ID = "GM007"
NAME = "lbfgs-closure"
FAMILY = "graph-reuse"
TITLE = "The closure calls backward on a loss made outside it"
CONCLUSION = (
    "The optimizer calls the closure several times in one step: forward and loss belong inside it."
)
KIND = "closure"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a failing call in a function that an optimizer called.

    If the root is the same as before, the closure's name decides: an optimizer of the script's own
    has other names. What no stepped parameter contributed to may stay outside.
    """
    story = story_of(evidence, project)
    if story is None or not story.in_closure or story.from_grad:
        return None
    constant = spared_by_closure(story)
    found = matched(story, NAME, Certainty.POSSIBLE if constant else Certainty.CERTAIN)
    forward = forward_outside(story)
    root = backward_root(story.root_call) if story.root_call is not None else None
    if forward is not None and story.reuse.same_root and isinstance(root, ast.Name):
        found = replace(found, carrier=GraphCarrier(root.id, forward))
    return replace(found, location=forward) if forward is not None else found
