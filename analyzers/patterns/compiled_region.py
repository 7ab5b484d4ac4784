"""A compiled region is differentiated twice, or its one backward is called again.

What happens: `torch.compile` turns a whole region into one node. The node has only a first
derivative, so a gradient with `create_graph=True` through it raises in the second backward. It
frees everything together, so parts that eager code could use again are gone. With donated buffers,
it cannot be kept for a second backward.

The fix: leave the part that is differentiated twice uncompiled (`@torch.compiler.disable`, or no
`torch.compile` there); call backward once on the sum of the losses; or run the compiled forward
once for each loss.

When this fix is wrong: when the same script also fails without the compiler. Then the usual causes
of a second backward apply.

Broken::

    import torch

    energy = torch.compile(torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(),
                                               torch.nn.Linear(8, 1)), backend="aot_eager")
    place = torch.randn(5, 3, requires_grad=True)
    force, = torch.autograd.grad(energy(place).sum(), place, create_graph=True)
    force.pow(2).mean().backward()

Fixed::

    import torch

    energy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    place = torch.randn(5, 3, requires_grad=True)
    force, = torch.autograd.grad(energy(place).sum(), place, create_graph=True)
    force.pow(2).mean().backward()
"""

from __future__ import annotations

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, GraphReuse
from analyzers.explain.pattern import Match, evidence_in
from analyzers.explain.reuse.describe import line
from analyzers.repair.settings.modes import compiled_lines, uncompiled
from analyzers.source.project import Project

ID = "GM038"
NAME = "compiled-region"
FAMILY = "graph-reuse"
TITLE = "A compiled region is used for more than one backward"
KIND = "compiled"
BEFORE = ("shared-subgraph", "undetached-target", "duplicate-backward", "per-sample-loop")
PREFERS = (uncompiled,)
_NODE = "CompiledFunction"  # the operation that AOTAutograd makes of a region
_REMEDY = (
    "call backward once on the sum of the losses, run the compiled forward once for each loss, or "
    "leave that part uncompiled."
)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match the compiler's refusal of a backward call."""
    return _reused(evidence, project) if isinstance(evidence, GraphReuse) else None


def _reused(reuse: GraphReuse, project: Project) -> Match | None:
    """Match a second backward call that reaches the one node of a compiled region."""
    nodes = [
        node for edge in reuse.stale_edges for node in (edge.old, edge.raising) if node is not None
    ]
    if not any(node.op.startswith(_NODE) for node in nodes):
        return None
    lines = list(compiled_lines(project))
    at = lines[0] if lines else reuse.reached.at
    return Match(NAME, Certainty.LIKELY, reuse, at, remedy=_REMEDY)


def explain(match: Match, project: Project) -> str:
    """Explain what the message means, and which lines show the cause."""
    reuse = evidence_in(match, GraphReuse)
    return (
        f"What is compiled at {line(match.location, project)} is one node of the graph: the "
        f"backward at {line(reuse.freed.at, project)} freed all of it, and the one at "
        f"{line(reuse.reached.at, project)} needs another part of the same region. Without the "
        f"compiler the parts may be used one after the other. {_REMEDY[:1].upper()}{_REMEDY[1:]}"
    )
