"""Backward runs on a running total of losses that still holds graphs which it has freed.

What happens: `total` grows by each iteration's loss, graph included, and every iteration calls
`total.backward()`. From the second iteration on, backward reaches losses whose graphs the earlier
calls have freed.

The fix: call backward on this iteration's loss, and add only its value to the total, with `.item()`
or `.detach()`. Or leave the total as it is and call `backward()` once, after the loop.

When this fix is wrong: never; which of the two is right depends on where `optimizer.step()` is:
inside the loop, the first; after the loop, the second. If one iteration calls backward on the
total, steps, adds to the total and calls backward again, reset the total to zero before that
addition.

Broken::

    total = 0
    for x, y in batches:
        total = total + criterion(model(x), y)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()

Fixed::

    total = 0
    for x, y in batches:
        loss = criterion(model(x), y)
        total = total + loss.detach()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import account, matched, story_in
from analyzers.explain.reuse.features import story_of
from analyzers.source.project import Project

ID = "GM001"
NAME = "accumulated-loss"
FAMILY = "graph-reuse"
TITLE = "A running total still holds the graphs of earlier iterations"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a root that is a sum and reaches an earlier root's graph only through the summing."""
    story = story_of(evidence, project)
    if story is not None and story.sums_on and not story.from_grad and not story.in_closure:
        taken_up = story.edge.new if story.edge is not None else None
        return matched(story, NAME, Certainty.CERTAIN, taken_up.at if taken_up else None)
    if story is None or story.same_iteration or story.reuse.same_root or not story.summed:
        return None
    return matched(story, NAME, Certainty.LIKELY)


def explain(match: Match, project: Project) -> str:
    """Explain which total holds which graphs."""
    if story_in(match).sums_on:
        return (
            account(match, project)
            + " The total still holds the losses of the first backward: set it to zero before "
            "losses are added up for the second."
        )
    return (
        account(match, project)
        + " The total still holds the graphs of earlier iterations: call backward on this "
        "iteration's loss, and keep only values in the total."
    )
