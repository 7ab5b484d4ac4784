"""A running total, a list or an average keeps the graph of every loss that went into it.

What happens: the script keeps losses for a progress line, with `total += loss`,
`losses.append(loss)` or `avg = 0.9 * avg + 0.1 * loss`. Nothing is raised. Every value keeps its
graph, so the graph of the total grows with each iteration, and memory and time grow with it.

Why: a tensor that requires grad refers to the operation that made it, and so to all earlier
operations. They can be freed only when nothing refers to the tensor any more.

The fix: keep the value, not the tensor: `total += loss.item()`, or `.detach()` if a tensor is
needed or if `.item()` would make the GPU wait in every iteration.

When this fix is wrong: when backward is later called on the total itself (gradient accumulation by
one backward after the loop). Then the total must keep its graphs; the loop should be short.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0
    for _ in range(8):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
"""

from __future__ import annotations

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.backward_inputs import runs_backward_on
from analyzers.explain.pattern import Match, evidence_in
from analyzers.explain.sentences import measured
from analyzers.explain.silent_matches import matched, silent
from analyzers.repair.cut.leaking import cut_after_backward
from analyzers.repair.value_only.histories import evaluated_without_graph, store_values, stores_of
from analyzers.source.project import Project

ID = "GM028"
NAME = "growing-history"
FAMILY = "silent"
SHOWN_AS = "graphs"
TITLE = "A kept value holds the graph of every iteration"
SEEN_AS = "growing-graph"
FIGURES = {"tensors": "Tensors with a graph in it", "nodes": "Graph nodes that it keeps alive"}
PREFERS = (cut_after_backward, evaluated_without_graph, store_values)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a name that keeps a larger graph in each iteration.

    A doubtful one must not be meant for a backward call anywhere in the project.
    """
    fault = silent(evidence, SEEN_AS)
    if fault is None or (fault.doubtful and runs_backward_on(fault, project)):
        return None
    stores = stores_of(fault, project)
    return matched(NAME, fault, stores[0].place if stores else None)


def explain(match: Match, project: Project) -> str:
    """Explain which name it is, and how its graph grew."""
    who = f"`{match.carrier.name}`" if match.carrier else "A kept value"
    fault = evidence_in(match, SilentFault)
    label = FIGURES[fault.counted or "nodes"] + (
        "" if fault.iterations else ", iteration by iteration"
    )
    return f"{who} keeps the graph of every iteration. {measured(match, project, label)}"
