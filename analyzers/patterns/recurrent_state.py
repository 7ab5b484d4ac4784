"""A recurrent state enters the next segment together with the graph of the last one.

What happens: the state (`h`, `(h, c)`, a list, a dict, an attribute, a return value) that one
iteration of the loop produces is an input of the next. It carries not only numbers but also the
autograd graph that made it. `backward()` has freed that graph's saved tensors, so the next
`backward()`, which runs from the new loss through the state into the old graph, raises.

The fix: detach the state where one segment ends and the next begins (truncated backpropagation
through time). The values carry over; the history does not. Detach the whole structure, and only at
the boundary: between the time steps of one segment, the state must stay connected, or nothing is
learnt through time.

When this fix is wrong: when gradients should flow across segments. Then call `backward()` once, at
the end of the whole sequence. `retain_graph=True` does not do that: each backward then runs through
all earlier iterations, memory and time grow, and after `optimizer.step()`, the weights that those
old graphs saved have changed. If the loop takes its samples in a random order, none goes on from
the one before: begin each iteration with a new state instead.

Broken::

    hidden = torch.zeros(1, 8, 16)
    for x, y in batches:
        out, hidden = rnn(x, hidden)
        loss = criterion(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

Fixed::

    hidden = torch.zeros(1, 8, 16)
    for x, y in batches:
        hidden = hidden.detach()
        out, hidden = rnn(x, hidden)
        loss = criterion(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.listed import said
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import account, matched
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.source.project import Project
from analyzers.source.random_order import fed_at_random

ID = "GM011"
NAME = "recurrent-state"
FAMILY = "graph-reuse"
TITLE = "A recurrent state still holds the previous iteration's graph"
RECURRENT = True
USUAL = True


_VALUES = (
    " The next iteration needs its values, not its history: detach it between iterations "
    "(truncated backpropagation through time)."
)
_FRESH = (
    " The loop takes its samples in a random order, so none goes on from the one before: begin "
    "each iteration with a new state."
)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a value of one iteration that is, in the next, an input of its own successor."""
    story = story_of(evidence, project)
    if story is None or not story.hands_on:
        return None
    if not story.bound_inside and not story.reuse.remade:
        return None
    if story.reuse.same_root or story.summed:
        return None
    likely = story.self_fed and not story.averaged
    found = matched(story, NAME, Certainty.LIKELY if likely else Certainty.POSSIBLE)
    return replace(found, title=_with_others(found, story))


def _with_others(found: Match, story: ReuseFeatures) -> str:
    """Return the title with the states that the same line carries on; '' if there are none."""
    each = {s.carriers[0].name: s for s in story.of_each_carrier() if s.self_fed}
    first = found.carrier
    if first is None or first.name not in each:
        return ""
    lines = {name: {st.lineno for _, _, st in s.binders} for name, s in each.items()}
    others = [n for n in each if n != first.name and lines[n] & lines[first.name]]
    return f"{TITLE}, and so {'do' if len(others) > 1 else 'does'} {said(others)}" if others else ""


def explain(match: Match, project: Project) -> str:
    """Explain which state crossed which boundary."""
    story = story_of(match.evidence, project)
    if story is not None and story.loop is not None and story.self_fed:
        fresh = not story.averaged and fed_at_random(story.name, story.loop, project)
        return account(match, project) + (_FRESH if fresh else _VALUES)
    return account(match, project) + _VALUES
