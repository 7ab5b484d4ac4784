"""A value meant as a constant keeps its graph.

What happens: a target (a GAN's fake in the discriminator step, an advantage, an old
log-probability, a teacher's output, a bootstrapped value) comes from a network and was not
detached. The backward of a loss that should only read the target also runs through its graph: it
frees the graph that the target's own loss needs, or needs the graph after that loss has freed it,
and it sends gradients where none belong. If no graph is needed twice, nothing is raised: the loss
trains its own target, and a bootstrapped value converges to a wrong value; an advantage that
weights log-probabilities is trained to be large; or a ratio of new to old log-probabilities has no
gradient, because both belong to the present policy.

The fix: detach the value where it is used as a constant, or compute it under `torch.no_grad()`.

When this fix is wrong: when the value is what should learn. A generator's own loss needs the fake
with its graph; only the discriminator's loss needs it detached.

Broken::

    fake = generator(noise)
    d_loss = criterion(discriminator(fake), zeros)
    d_loss.backward()
    d_optimizer.step()
    g_loss = criterion(discriminator(fake), ones)
    g_loss.backward()
    g_optimizer.step()

Fixed::

    fake = generator(noise)
    d_loss = criterion(discriminator(fake.detach()), zeros)
    d_loss.backward()
    d_optimizer.step()
    g_loss = criterion(discriminator(fake), ones)
    g_loss.backward()
    g_optimizer.step()
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.bootstrap_targets import CROSSED, RATIO, BootstrapTarget, constant_target
from analyzers.explain.listed import some
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.reuse.collected import kept_with_graph
from analyzers.explain.reuse.describe import account, line, matched, story_in
from analyzers.explain.reuse.features import story_of
from analyzers.explain.reuse.read_only_uses import entry_targets
from analyzers.explain.reuse.untouched_weights import spared_by_closure
from analyzers.explain.silent_matches import matched as matched_silent
from analyzers.explain.silent_matches import silent
from analyzers.repair.cut.constants import (
    meant_as_constant,
    slice_is_stale,
)
from analyzers.repair.cut.detached_elsewhere import read_attached
from analyzers.repair.edit_search import constant
from analyzers.repair.leaf.recorded_updates import recorded_update
from analyzers.source.project import Project
from analyzers.source.writes import writes
from provenance import CodeLine

ID = "GM014"
NAME = "undetached-target"
FAMILY = "graph-reuse"
TITLE = "A value meant as a constant keeps its graph"
BEFORE = ("shared-subgraph", "derived-outside-loop", "forward-outside-loop")
USUAL = True
SEEN_AS = "bootstrap-target"
KIND = "target"
PREFERS = (constant.edits,)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a backward call that only meant to read the shared value, or a loss that trains its
    target."""
    if (fault := silent(evidence, SEEN_AS)) is not None:
        return _aimed_at(fault, project)
    story = story_of(evidence, project)
    if story is None or story.from_grad:
        return None
    if (update := recorded_update(story)) is not None:
        name = next(write.name for write in writes(update.statement))
        found = matched(story, NAME, Certainty.CERTAIN, update.place)
        return replace(found, carrier=GraphCarrier(name, update.place))
    if read_attached(story):
        return matched(story, NAME, Certainty.CERTAIN)
    if story.reuse.same_root:
        return None
    if story.in_closure:
        return matched(story, NAME, Certainty.LIKELY) if spared_by_closure(story) else None
    constant = slice_is_stale(story) or bool(entry_targets(story))
    if not story.name or (story.sliced and not constant):
        return None
    certainty = meant_as_constant(story)
    outside = not story.same_iteration and not story.bound_inside
    place = kept_with_graph(story.reuse, project) if outside else None
    return matched(story, NAME, certainty, place) if certainty is not None else None


def _aimed_at(fault: SilentFault, project: Project) -> Match | None:
    target = constant_target(fault, project)
    if target is None:
        return None
    module = target.where.module
    at = target.where.place if target.made is None else CodeLine(module.path, target.made.lineno)
    found = matched_silent(NAME, fault, at, GraphCarrier(target.name, at) if target.name else None)
    if found is not None:
        found.facts["target"] = target
    return found


def explain(match: Match, project: Project) -> str:
    """Explain which value was meant to be read only."""
    target = match.facts.get("target")
    if (
        isinstance(match.evidence, SilentFault)
        and isinstance(target, BootstrapTarget)
        and target.weighs
    ):
        return (
            f"What weighs the log-probabilities at {line(match.location, project)} keeps its "
            f"graph: the backward trains {some(match.evidence.params)} to make the weight larger, "
            "whatever it is an estimate of. A weight is a constant for a policy's loss."
        )
    if isinstance(match.evidence, SilentFault) and match.evidence.detail == RATIO:
        at = match.evidence.at or match.location
        return (
            f"Both log-probabilities of the ratio at {line(at, project)} are "
            f"computed from the present {some(match.evidence.params)}, so their gradients cancel: "
            "the loss of the ratio trains nothing. The older one is a constant."
        )
    if isinstance(match.evidence, SilentFault):
        text = (
            f"The loss that is given the target of {line(match.location, project)} sends gradient "
            f"into it, too: its backward trains {some(match.evidence.params)} both to come near "
            "the target and to move it. A target is a constant for the loss that compares with it."
        )
        if match.evidence.detail == CROSSED:
            text += " The other prediction is computed from it: nothing keeps both from "
            text += "being the same for everything."
        if isinstance(target, BootstrapTarget) and target.is_alias:
            text += " Where nothing is recorded, a value that has a graph keeps it."
        return text
    if recorded_update(story_in(match)) is not None:
        return (
            f"{account(match, project)} Weights that follow others are constants for every loss: "
            "update them where nothing is recorded."
        )
    why = "One of the two losses only reads that value: give it a detached one."
    if read_attached(story_in(match)):
        why = "The loss reads it detached elsewhere: it is a constant for this loss."
    return f"{account(match, project)} {why}"
