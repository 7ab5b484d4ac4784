"""A tensor was changed where autograd still needs it."""

from __future__ import annotations

import ast

from analyzers.advice import Entry
from analyzers.advice import looking as look
from analyzers.source.project import Module

FAMILIES = ("inplace",)
LEAF = frozenset({"leaf"})
VIEW = frozenset({"view"})


def changed_over_views(node: ast.AST, module: Module) -> str | None:
    """`for row in x: row += 1`: iteration gives views."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return None
    name = node.target.id
    written = (look.written_in_place(inner, module) for s in node.body for inner in ast.walk(s))
    return name if any(w is not None and w.split(".")[0] == name for w in written) else None


ENTRIES = (
    Entry(
        "`{name}` go back through graphs built before a step that stands between them, and the "
        "step changed the weights which the second still needs: call both before any step, or "
        "compute what the second needs after the step.",
        look.walks_behind(step=True),
    ),
    Entry(
        "`{name}` gives rows that are views of one tensor: build a list of new rows and "
        "`torch.stack` it.",
        changed_over_views,
        VIEW,
    ),
    Entry(
        "`{name}` writes into a tensor that may be a parameter or an input with "
        "`requires_grad`: do it under `with torch.no_grad():`, or on `.data` in old code.",
        look.written_in_place,
        LEAF,
    ),
    Entry(
        "`{name}` is told to work in place: leave `inplace=True` out where its input, or its "
        "neighbour's result, is needed again.",
        look.calls(keyword="inplace=True"),
    ),
    Entry(
        "`{name}` renormalises its weight in place at every call (`max_norm`): use a clone of the "
        "weight, or call it once before the weight is used.",
        look.calls(keyword="max_norm"),
    ),
    Entry(
        "`{name}` is changed in place: write a new tensor (`x = x + y`; a list and `torch.stack` "
        "in place of item by item), or clone it first.",
        look.written_in_place,
    ),
    Entry(
        "`{name}` broadcasts buffers before every forward, which changes them in place: one "
        "forward for each backward, or `broadcast_buffers=False`.",
        look.calls("DistributedDataParallel", "DDP"),
    ),
    Entry(
        "`{name}` goes into the call that makes it, so later steps change weights that its old "
        "graph still needs: detach it at the head of each pass.",
        look.carried,
    ),
    Entry(
        "Since torch 1.5 an optimizer's step counts as a change in place of the weights: what ran "
        "before then trained on gradients of changed weights, silently. Going back to 1.4 hides "
        "the fault.",
        look.calls("step"),
        kind="version",
    ),
    Entry(
        "torch 1.2 raised this for some indexed values that nothing had changed; 1.3 and later do "
        "not.",
        kind="version",
    ),
)
