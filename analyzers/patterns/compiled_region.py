"""A compiled region is differentiated twice, or its one backward is asked for again.

What happens: `torch.compile` makes one node of a whole region. It has a first derivative only, so a
gradient with `create_graph=True` through it raises in the second backward; it frees everything
together, so parts that eager code could use again are gone; with donated buffers it cannot be kept
for a second backward.

The fix: leave the part that is differentiated twice uncompiled (`@torch.compiler.disable`, or no
`torch.compile` there); call backward once on the sum of the losses; run the compiled forward once
for each loss.

When this fix is wrong: where the same script fails without the compiler, too. Then the usual causes
of a second backward apply.

Broken::

    import torch

    energy = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(),
                                               torch.nn.Linear(8, 1)), backend="aot_eager")
    place = torch.randn(5, 3, requires_grad=True)
    force, = torch.autograd.grad(energy(place).sum(), place, create_graph=True)
    force.pow(2).mean().backward()

Mended::

    import torch

    energy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    place = torch.randn(5, 3, requires_grad=True)
    force, = torch.autograd.grad(energy(place).sum(), place, create_graph=True)
    force.pow(2).mean().backward()
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.evidence import Evidence
from analyzers.explain import known
from analyzers.explain.pattern import Match, Proposal
from analyzers.repair.settings.modes import uncompiled
from analyzers.source.project import Project

ID = "GM038"
NAME = "compiled-region"
FAMILY = "graph-reuse"
TITLE = "A compiled region is used for more than one backward"
KIND = "compiled"


def match(evidence: Evidence, project: Project) -> Match | None:
    """The compiler refused what a backward asked for."""
    error = known.known(evidence, KIND)
    return known.matched(NAME, error, project) if error is not None else None


def explain(match: Match, project: Project) -> str:
    """What the message means, and which lines show the cause."""
    return known.explain(match, project)


def fixes(match: Match, project: Project) -> Iterator[Proposal]:
    """No compiler."""
    yield from uncompiled(project)
