"""Backward is called twice on one loss.

What happens: `backward()` is called on the same loss a second time: in the next line, in a helper,
a logger, a hook or a callback. The first call has freed the graph.

The fix: one call. The second would only add the same gradient again, like a doubled learning rate.

When this fix is wrong: when the second call was meant for another loss. Then the name is wrong, not
the number of calls.

Broken::

    def log_gradients(model, loss):
        loss.backward()
        print([p.grad.norm().item() for p in model.parameters()])

    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    log_gradients(model, loss)
    optimizer.step()

Fixed::

    def log_gradients(model):
        print([p.grad.norm().item() for p in model.parameters()])

    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    log_gradients(model)
    optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import story_of
from analyzers.repair.combine.combining import runs_backward_per_part
from analyzers.source.project import Project

ID = "GM003"
NAME = "duplicate-backward"
FAMILY = "graph-reuse"
TITLE = "backward() is called twice on the same loss"
CONCLUSION = "One call is enough: remove the other."


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a root that was a root before, in the same iteration."""
    story = story_of(evidence, project)
    if story is None or story.from_grad or story.in_closure or story.sums_on:
        return None
    if story.same_iteration and (story.sums_earlier_roots or story.root_was_reached):
        return matched(story, NAME, Certainty.CERTAIN, story.reuse.reached.at)
    if not story.reuse.same_root:
        return None
    if runs_backward_per_part(story):
        return matched(story, NAME, Certainty.CERTAIN, story.reuse.reached.at)
    repeated = story.same_line and bool(story.shared and story.shared.loops)
    certainty = Certainty.POSSIBLE if repeated or story.sliced else Certainty.CERTAIN
    return matched(story, NAME, certainty, story.reuse.reached.at)
