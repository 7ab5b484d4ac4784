"""One forward over the batch, then a backward for each sample of it.

What happens: the model runs once over the whole batch, and the loop then calls backward on the loss
of each sample (or time step, or slice). All samples share one graph. The first backward frees it
for all.

The fix: add up the losses and call backward once. Gradients add up, so only the number of backward
calls changes. If the optimizer steps after each sample, run the forward inside the loop instead:
each sample then uses the current weights.

When this fix is wrong: when each sample's gradient is needed separately (per-example clipping).
Then keep the graph for all but the last sample, or use `torch.func.vmap` over `grad`.

A loop over samples that runs its own forward in each iteration is correct and needs no fix.

Broken::

    output = model(inputs)
    for i in range(len(inputs)):
        loss = criterion(output[i], targets[i])
        loss.backward()
    optimizer.step()

Fixed::

    output = model(inputs)
    total_loss = 0
    for i in range(len(inputs)):
        loss = criterion(output[i], targets[i])
        total_loss = total_loss + loss
    total_loss.backward()
    optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import story_of
from analyzers.explain.reuse.value_sources import of_parameters_alone
from analyzers.repair.cut.constants import slice_is_stale
from analyzers.source.project import Project

ID = "GM010"
NAME = "per-sample-loop"
FAMILY = "graph-reuse"
TITLE = "One forward over the batch, a backward for each sample"
CONCLUSION = (
    "All samples share that one graph: reduce first and call backward once, or run the forward "
    "inside the loop."
)
BEFORE = ("forward-outside-loop",)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match one line that calls backward on parts of a batch output made before the loop."""
    story = story_of(evidence, project)
    if story is None or story.same_iteration or story.from_grad or story.in_closure:
        return None
    if not story.sliced or slice_is_stale(story) or of_parameters_alone(story):
        return None
    return matched(story, NAME, Certainty.LIKELY)
