"""A tensor derived from parameters was computed once and is used in every iteration.

What happens: a value computed from parameters (a normalised weight, a kernel or covariance, a
positional table, `exp(log_sigma)`, propagated embeddings) is made once: before the loop, in
`__init__`, or in a cache, possibly that of a library. The first `backward()` frees its graph, and
the second iteration reaches the graph again. `retain_graph=True` hides the fault: nothing is
raised, and each step follows gradients of the initial weights.

The fix: compute the value where it is used, in each iteration, from the current parameters.

When this fix is wrong: when the value is meant to be constant. Only then detach it; otherwise the
parameter that it comes from stops learning.

Broken::

    scale = torch.exp(log_scale)
    for x, y in batches:
        loss = criterion(model(x) * scale, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Fixed::

    for x, y in batches:
        scale = torch.exp(log_scale)
        loss = criterion(model(x) * scale, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.collected import collected
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.explain.reuse.read_only_uses import target_calls
from analyzers.explain.reuse.untouched_weights import steps_others
from analyzers.explain.reuse.value_sources import built_by_a_module, of_parameters_alone
from analyzers.source.project import Project

ID = "GM002"
NAME = "derived-outside-loop"
FAMILY = "graph-reuse"
TITLE = "A tensor derived from parameters is computed once and used in every iteration"
CONCLUSION = "It depends on parameters, so compute it again in each iteration."
BEFORE = ("shared-subgraph",)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a tensor derived from parameters that each iteration uses and none recomputes."""
    story = story_of(evidence, project)
    if story is None or story.from_grad or story.in_closure or story.same_iteration:
        return None
    remade = story.reuse.remade and not (story.cached or _made_ahead(story))
    if remade or story.reuse.same_root:
        return None
    if (story.bound_inside and story.binders) or story.each_of_many:
        return None
    if story.sliced and not of_parameters_alone(story):
        return None
    if any(collected(story.reuse, project)):
        return None
    kept = story.kept_on_object or (story.holder is not None and story.holder.kind == "closure")
    if kept and not steps_others(story):
        return matched(story, NAME, Certainty.CERTAIN)
    by_a_module = built_by_a_module(story)
    return matched(story, NAME, Certainty.POSSIBLE if by_a_module else Certainty.LIKELY)


def _made_ahead(story: ReuseFeatures) -> bool:
    """Return True if no iteration recomputes what an object stores, though other lines of it run.

    Return False if a loss compares with it.
    """
    old = [edge.renewed for edge in story.reuse.stale_edges]
    ahead = story.kept_on_object and not story.bound_inside and not any(target_calls(story))
    return ahead and bool(old) and all(renewed is False for renewed in old)
