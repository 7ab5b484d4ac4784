"""A hand-written truncated BPTT runs backward through the same steps twice.

What happens: the script keeps a list of states and passes gradients from one segment to the one
before it with `state.backward(gradient)`. A segment that one iteration has run backward through is
still in the list in the next iteration, connected to its own past, so backward reaches it again.

The fix: detach each state from its past when it enters the list, keep only the segments that are
used, and run backward through each of them once; or call backward once for a chunk of steps and
detach the state at the chunk's end.

When this fix is wrong: when windows overlap on purpose (each step's loss goes k2 steps back, every
k1 < k2 steps). Then backward reaches segments more than once by design, and `retain_graph=True` on
those calls is right, with k2 states in the list.

Broken::

    states = [torch.zeros(1, 8)]
    for step, x in enumerate(sequence):
        states.append(cell(x, states[-1]))
        if (step + 1) % k == 0:
            states[-1].pow(2).sum().backward()

Fixed::

    states = [torch.zeros(1, 8)]
    for step, x in enumerate(sequence):
        states.append(cell(x, states[-1]))
        if (step + 1) % k == 0:
            states[-1].pow(2).sum().backward()
            states = [states[-1].detach()]
"""

from __future__ import annotations

import ast

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.repair.combine.retain_graph import hands_on_gradients
from analyzers.repair.edit_search import combine, cut, keep_graph, reset
from analyzers.source.flow import mentions
from analyzers.source.project import Project
from analyzers.source.targets import target_names
from analyzers.source.trees import nodes_of

ID = "GM008"
NAME = "manual-tbptt"
FAMILY = "graph-reuse"
TITLE = "A hand-written truncated BPTT goes through the same steps twice"
CONCLUSION = "Each time step may be gone through once: detach the states after it."
RECURRENT = True
PREFERS, ALSO = (combine.edits, reset.edits, keep_graph.edits), (cut.edits,)
BEFORE = ("duplicate-backward", "recurrent-state", "stored-graph")


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match states in a list with manual backward calls: with a passed gradient, or in windows."""
    story = story_of(evidence, project)
    if story is None or story.from_grad or not story.name:
        return None
    if story.reuse.engine == "torch" and hands_on_gradients(story):
        return matched(story, NAME, Certainty.CERTAIN, story.reuse.reached.at)
    if story.summed and not story.same_iteration and _windowed(story) and _has_state(story):
        return matched(story, NAME, Certainty.CERTAIN)
    listed = story.holder is not None and story.holder.container.startswith(("list", "deque"))
    if listed and story.self_fed and not story.same_iteration and _windowed(story):
        return matched(story, NAME, Certainty.LIKELY)
    if story.self_fed and not story.same_iteration and _windowed(story) and story.stored:
        return matched(story, NAME, Certainty.LIKELY)
    return None


def _has_state(story: ReuseFeatures) -> bool:
    """Return True if the loop carries a state from step to step, besides its sums."""
    if story.loop is None:
        return False
    own = {story.name}  # and what is new in each iteration
    if isinstance(story.loop, ast.For):
        own |= set(target_names(story.loop.target))
    return any(
        isinstance(node.value, ast.Call)
        and any(
            name not in own and mentions(node.value, name)
            for target in node.targets
            for name in target_names(target)
        )
        for node in nodes_of(story.loop, ast.Assign)
    )


def _windowed(story: ReuseFeatures) -> bool:
    """Return True if the backward call runs only every so many steps of the loop around it."""
    if story.shared is None:
        return False
    return any(
        isinstance(parent, ast.If)
        and any(isinstance(n.op, ast.Mod) for n in nodes_of(parent.test, ast.BinOp))
        for parent in story.shared.module.ancestors(story.shared.reached)
    )
