"""The forward ran once, before the loop that calls backward on its result many times.

What happens: the model's output (or the loss itself) is computed before the loop. Each iteration
calls `backward()` on it or on something made from it. The first iteration frees the graph; the
second finds it freed. Even if nothing were raised, every iteration would train on the output of the
initial weights.

The fix: move the forward into the loop, so that each iteration has its own graph, made from the
current weights.

When this fix is wrong: when the output is meant as a fixed input (features of a frozen backbone).
Then compute it under `torch.no_grad()`.

Broken::

    output = model(x)
    for epoch in range(10):
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Fixed::

    for epoch in range(10):
        output = model(x)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import story_of
from analyzers.explain.reuse.value_sources import built_by_a_module
from analyzers.source.project import Project

ID = "GM004"
NAME = "forward-outside-loop"
FAMILY = "graph-reuse"
TITLE = "The forward ran once, before the loop that calls backward"
CONCLUSION = (
    "It is computed once, but the backward of every iteration uses it: each iteration needs its "
    "own forward pass."
)
BEFORE = ("derived-outside-loop",)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a model's output that each iteration calls backward on and none recomputes."""
    story = story_of(evidence, project)
    if story is None or story.from_grad or story.in_closure or story.same_iteration:
        return None
    if story.shared is None or not story.shared.loops or story.reuse.remade:
        return None
    if (story.bound_inside and story.binders) or story.each_of_many:
        return None
    if story.reuse.same_root:
        sure = not story.sliced
    else:
        sure = built_by_a_module(story) and story.steps_inside
    return matched(story, NAME, Certainty.LIKELY if sure else Certainty.POSSIBLE)
