"""A part of a graph was walked twice."""

from __future__ import annotations

import ast

from analyzers.advice import Entry
from analyzers.advice import looking as look
from analyzers.source.project import Module, spelled

FAMILIES = ("graph-reuse", "engine")


def compared_types(node: ast.AST, module: Module) -> str | None:
    """`type(h) == Variable`, which is true of no tensor any more."""
    match node:
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")) as left, comparators=[other]):
            return spelled(left) if spelled(other).endswith("Variable") else None
    return None


def kept_by_self(node: ast.AST, module: Module) -> str | None:
    """`self.state = f(x)` outside `__init__`: it lives as long as its object."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call | ast.BinOp):
        return None
    name = next((s for t in node.targets if (s := spelled(t)).startswith("self.")), None)
    scope = module.scope_of(node)
    inside = isinstance(scope, ast.FunctionDef) and scope.name != "__init__"
    cut = spelled(node.value).endswith((".detach()", ".item()"))
    return name if name is not None and inside and not cut else None


ENTRIES = (
    Entry(
        "`{name}` is never a `Variable` since torch 0.4 (tensors and Variables are one), so the "
        "branch that detaches is skipped: ask `isinstance(h, torch.Tensor)`.",
        compared_types,
    ),
    Entry(
        "`{name}` may share a part of their graph, and the first backward frees it: add the losses "
        "and call backward once, or compute the shared part anew for the second.",
        look.walks_behind(step=False),
    ),
    Entry(
        "`{name}` may share a part of their graph, with a step between them: call both before "
        "any step, detach what the first only judges (`fake.detach()`), or compute it anew.",
        look.walks_behind(step=True),
    ),
    Entry(
        "`{name}` goes into the call that makes it, so it keeps the graph of every earlier pass: "
        "`{name} = {name}.detach()` at the head of each pass (each part of it, if it is a tuple).",
        look.carried,
    ),
    Entry(
        "`{name}` is made anew from its numbers in each pass, which cuts it off from the pass "
        "before. Here this is right. In front of the loop, or for one of several states only, it "
        "is not enough: the next backward needs the graph of the pass before again.",
        look.renewed,
        blames=False,
    ),
    Entry(
        "`{name}` adds up values with their graphs: reset it in each step, or add `.item()` where "
        "it is only shown.",
        look.summed_up,
    ),
    Entry(
        "`{name}` keeps tensors with their graphs: empty the list after each update, or store "
        "them detached.",
        look.storing("append", "extend"),
    ),
    Entry(
        "`{name}` outlives the call that makes it, with its graph: detach what is kept, or make "
        "it anew in each pass.",
        kept_by_self,
    ),
    Entry(
        "spiking and other stateful modules keep their state inside ({name}): reset it at the "
        "head of each batch (`functional.reset_net(model)`, `detach()` of the membrane).",
        look.mentions("snntorch", "spikingjelly", "norse", "spiking", "LIFNode"),
    ),
    Entry(
        "`{name}` calls the closure several times, so the forward belongs inside the closure.",
        look.calls("LBFGS"),
    ),
)
