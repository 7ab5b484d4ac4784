"""`autograd.grad` freed what a later backward needs.

What happens: like `backward()`, `torch.autograd.grad` runs through the graph and frees it, unless
an argument keeps it. Then `backward()` is called on a loss that shares a part of that graph, or on
a penalty on the gradients.

The fix: `create_graph=True` on that call if the gradients are part of the loss (a gradient
penalty); `retain_graph=True` if they are only read. Here the flag does not hide a fault: both calls
are needed, once each.

When this fix is wrong: when one call for all inputs could compute the same gradients.

Broken::

    loss = criterion(model(x), y)
    grads = torch.autograd.grad(loss, model.parameters())
    norm = sum(g.pow(2).sum() for g in grads).sqrt()
    loss.backward()

Fixed::

    loss = criterion(model(x), y)
    grads = torch.autograd.grad(loss, model.parameters(), retain_graph=True)
    norm = sum(g.pow(2).sum() for g in grads).sqrt()
    loss.backward()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import story_of
from analyzers.repair.sites.call_options import option_site
from analyzers.source.project import Project

ID = "GM005"
NAME = "grad-then-backward"
FAMILY = "graph-reuse"
TITLE = "autograd.grad freed the graph that a later backward needs"
CONCLUSION = (
    "`autograd.grad` frees the graph like `backward()` does: tell it to keep what the later "
    "call needs."
)
BEFORE = ("recurrent-state",)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a graph that `autograd.grad` freed."""
    story = story_of(evidence, project)
    if story is None or not story.from_grad:
        return None
    carried = not story.same_iteration and story.reuse.remade
    site = option_site(story, story.reuse.freed, "create_graph")
    place = site.place if site is not None else story.reuse.freed.at
    unsure = carried or story.grads_of_several
    return matched(story, NAME, Certainty.POSSIBLE if unsure else Certainty.CERTAIN, place)
