"""Two losses share activations, and each has its own backward.

What happens: both losses are computed from one trunk (for example, an encoder's output). The first
`backward()` runs through its own branch and the trunk, and frees what they saved. The second one
runs through its branch and then reaches the freed trunk.

The fix: call backward once, on the sum. Gradients add up, so the result equals that of two
backwards, and backward runs through the trunk once instead of twice. With two optimizers, run all
backwards first, then all steps.

When this fix is wrong: when the two gradients are needed separately (to clip or balance them one by
one). Then `retain_graph=True` on the first backward, and only there, is right.

Do not detach the trunk to silence the error: the trunk would then learn from one loss only.

Broken::

    features = trunk(x)
    loss_a = criterion(head_a(features), y_a)
    loss_b = criterion(head_b(features), y_b)
    optimizer.zero_grad()
    loss_a.backward()
    loss_b.backward()
    optimizer.step()

Fixed::

    features = trunk(x)
    loss_a = criterion(head_a(features), y_a)
    loss_b = criterion(head_b(features), y_b)
    optimizer.zero_grad()
    (loss_a + loss_b).backward()
    optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import account, matched, story_in
from analyzers.explain.reuse.features import story_of
from analyzers.repair.combine.retain_graph import (
    uses_each_gradient,
)
from analyzers.source.project import Project

ID = "GM012"
NAME = "shared-subgraph"
OF_SEVERAL_LOSSES = True
FAMILY = "graph-reuse"
TITLE = "Two losses share activations, each with its own backward"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match two roots of one iteration that share an activation which neither recomputes."""
    story = story_of(evidence, project)
    if story is None or story.reuse.same_root or story.in_closure:
        return None
    if story.from_grad and not story.grads_of_several:
        return None
    if story.same_iteration:
        return matched(story, NAME, Certainty.LIKELY, story.reuse.reached.at)
    if story.each_of_many and not story.sliced:
        sure = Certainty.LIKELY if story.steps_inside else Certainty.CERTAIN
        return matched(story, NAME, sure, story.reuse.reached.at)
    if story.bound_inside or story.reuse.remade or story.steps_inside or story.sliced:
        return None
    return matched(story, NAME, Certainty.LIKELY, story.reuse.reached.at)


def explain(match: Match, project: Project) -> str:
    """Explain which activation both losses reach."""
    story, remedy = story_in(match), "call backward once, on their sum"
    if story.same_iteration and story.steps_between:
        remedy = "weights change between the two, so that the second backward needs a forward of "
        remedy += "its own"
    elif uses_each_gradient(story):
        remedy = "keep the graph until the last of them, as the gradient of each is used by itself"
    return f"{account(match, project)} Both losses need that part of the graph: {remedy}."
