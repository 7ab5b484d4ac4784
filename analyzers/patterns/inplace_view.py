"""One of several views of a tensor (`unbind`, `chunk`, a loop over its rows) is written in place.

What happens: `i, f, g, o = gates.chunk(4)` gives four views of one memory, made by one operation.
`i.sigmoid_()` then writes through one of them. A loop over a tensor does the same: each `row` of
`for row in x` is such a view. Or the view was made under `no_grad` and is written outside of it.

Rows of a parameter (`for row in embedding.weight`) are such views too; update them under
`torch.no_grad()`.

Why: one operation made all the views, and autograd cannot rewrite the history of one output without
the others. So PyTorch raises an error.

The fix: compute a new tensor, `i = i.sigmoid()`. If the loop should change the whole tensor,
collect the new rows and `torch.stack` them.

When this fix is wrong: when the tensor that the views belong to is read afterwards and should show
the change. Then write into a clone of it by index, or stack the new parts.

Broken::

    import torch

    layer = torch.nn.Linear(4, 6)
    update, reset = layer(torch.randn(2, 4)).chunk(2, dim=1)
    update.sigmoid_()
    (update * reset).sum().backward()

Fixed::

    import torch

    layer = torch.nn.Linear(4, 6)
    update, reset = layer(torch.randn(2, 4)).chunk(2, dim=1)
    update = update.sigmoid()
    (update * reset).sum().backward()
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.evidence import Evidence, InplaceChange
from analyzers.explain.inplace_changes import refused
from analyzers.explain.pattern import Match, evidence_in
from analyzers.explain.sentences import changed
from analyzers.messages import entry_of
from analyzers.source.project import Project

ID = "GM018"
NAME = "inplace-view"
FAMILY = "inplace"
TITLE = "A view is written in place where other views forbid it"
KIND = "view"


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match PyTorch's refusal of a write through a view."""
    found = refused(NAME, evidence, project, KIND)
    entry = entry_of(evidence_in(found, InplaceChange).message) if found is not None else None
    return replace(found, title=entry.title) if found is not None and entry is not None else found


def explain(match: Match, project: Project) -> str:
    """Explain which view it is, and where."""
    entry = entry_of(evidence_in(match, InplaceChange).message)
    if entry is not None and entry.title:
        return (
            f"{changed(match, project)} {entry.means} Append `.clone()`, or compute a new tensor."
        )
    return (
        changed(match, project) + " It is one of several views that one operation made, or one "
        "made under `no_grad`: compute a new tensor instead."
    )
