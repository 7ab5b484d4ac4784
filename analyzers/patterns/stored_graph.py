"""Something that is kept across iterations keeps the graph that made it.

What happens: a buffer, memory bank, queue, replay list, running statistic, moving average or cache
stores tensors as the model returns them. Each tensor keeps its autograd graph. A later iteration
computes its loss from the store, and its `backward()` reaches graphs that earlier ones have freed.

The fix: detach when storing. The stored value is then a constant: every later iteration can read
it, and it needs no memory beyond its values.

When this fix is wrong: when the stored tensor should still learn in the iteration that made it.
Then use the live tensor for this iteration's loss, and put a detached one into the store.

Broken::

    bank = []
    for x, _ in batches:
        feature = encoder(x)
        bank.append(feature)
        loss = contrast(feature, torch.cat(bank))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Fixed::

    bank = []
    for x, _ in batches:
        feature = encoder(x)
        bank.append(feature.detach())
        loss = contrast(feature, torch.cat(bank))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.collected import collected, kept_by_module
from analyzers.explain.reuse.describe import account, line, matched
from analyzers.explain.reuse.escapes import handed_for_good
from analyzers.explain.reuse.features import story_of
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM013"
NAME = "stored-graph"
FAMILY = "graph-reuse"
TITLE = "A stored tensor keeps the graph that made it"
BEFORE = ("recurrent-state", "grad-then-backward")
USUAL = True


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a value stored in an object that outlives the iteration, and read there later."""
    story = story_of(evidence, project)
    if story is not None and kept_by_module(story):
        return matched(story, NAME, Certainty.CERTAIN)
    if story is None or not story.hands_on:
        return None
    if story.reuse.same_root or story.summed:
        return None
    if (rollout := next(collected(story.reuse, project), None)) is not None:
        at = CodeLine(rollout[1].path, rollout[2].lineno)
        return matched(story, NAME, Certainty.CERTAIN, at)
    if not story.bound_inside:
        return None
    if story.averaged:
        return matched(story, NAME, Certainty.LIKELY)
    if story.stored:
        return matched(story, NAME, Certainty.POSSIBLE if story.self_fed else Certainty.LIKELY)
    handed = next(handed_for_good(story.reuse, project), None)
    place = CodeLine(handed[0].path, handed[1].lineno) if handed is not None else None
    return matched(story, NAME, Certainty.POSSIBLE, place)


def explain(match: Match, project: Project) -> str:
    """Explain what is stored, and which backward call reached it again."""
    text = account(match, project)
    kept = line(match.location, project)
    if kept not in text:
        text += f" It was put there at {kept}."
    return text + " What is kept across iterations should be values only: detach it when stored."
