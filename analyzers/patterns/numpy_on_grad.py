"""NumPy was given a tensor that requires grad.

What happens: `.numpy()`, or a NumPy function called on the tensor, would give access to memory that
autograd does not track. PyTorch raises an error.

Why: NumPy records nothing. What it computes has no gradient.

The fix: if the values are only read (a plot, a metric, a nearest-neighbour search), detach first:
`x.detach().numpy()`. If the result is part of the loss, use torch functions instead.

When this fix is wrong: inside a forward or a loss. The message advises `detach().numpy()`; there it
cuts the graph, and the part of the model before the cut silently stops learning.

Broken::

    import torch

    model = torch.nn.Linear(3, 1)
    losses = []
    for _ in range(3):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        loss.backward()
        losses.append(loss.numpy())

Fixed::

    import torch

    model = torch.nn.Linear(3, 1)
    losses = []
    for _ in range(3):
        loss = model(torch.randn(8, 3)).pow(2).mean()
        loss.backward()
        losses.append(loss.detach().numpy())
"""

from __future__ import annotations

import ast

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence, MissingGraph
from analyzers.explain.missing import kind_of, matched
from analyzers.explain.pattern import GraphCarrier, Match
from analyzers.explain.source_locations import names_held, resolve_location, root_of
from analyzers.source.flow import bindings, mentions
from analyzers.source.project import Project

ID = "GM025"
NAME = "numpy-on-grad"
FAMILY = "no-grad"
TITLE = "NumPy was given a tensor that requires grad"
CONCLUSION = "NumPy cannot keep it."
KIND = "numpy"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match PyTorch's refusal to give the tensor's memory to NumPy."""
    if not isinstance(evidence, MissingGraph) or kind_of(evidence, project) != "numpy":
        return None
    return matched(NAME, evidence, Certainty.CERTAIN, evidence.at, _given(evidence, project))


def _given(evidence: MissingGraph, project: Project) -> GraphCarrier | None:
    """Return the first name on the line itself, else what is computed there.

    A parameter of a model that is called there is not what NumPy was given.
    """
    where = resolve_location(project, evidence.at)
    if where is None:
        return None
    held = [n for n in names_held(evidence.holders) if mentions(where.statement, root_of(n))]
    made = bindings(where.statement) if isinstance(where.statement, ast.Assign) else []
    return GraphCarrier(next(iter([*held, *made]), ""), where.place)
