"""Draw samples so that the graph of their distribution is kept, and make parameters of origins."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias, joined
from analyzers.repair.reconnect.cutting_expressions import (
    cuts_in,
)
from analyzers.source.callees import is_call
from analyzers.source.calls import calls_of
from analyzers.source.edits import Edit
from analyzers.source.flow import bindings, definitions, names_read
from analyzers.source.ops import NO_RSAMPLE
from analyzers.source.project import spelled
from analyzers.source.samples import samples
from analyzers.source.trees import nodes_of

_NO_RSAMPLE = [f"torch.distributions.{name}" for name in sorted(NO_RSAMPLE)]


def sampled(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield proposals for samples of a distribution that pass the gradient on; nothing if it is
    known to have none.
    """
    calls = list(samples(where.statement))
    ends = [where.editor.span(call.func)[1] for call in calls]
    if ends and not any(_cannot_pass_on(where, call) for call in calls):
        edits = tuple(Edit(where.module.path, end - len("sample"), end, "rsample") for end in ends)
        yield Proposal("rsample", "Sample with a gradient: `rsample()`", edits, "", rank)


def reparametrized(where: SourceLocation, rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal with a sample of `Normal(mean, std)` for `torch.normal(mean, std)`, whose
    gradient is zero.
    """
    editor = where.editor
    for call in calls_of(where.statement, "torch.normal"):
        if len(call.args) == 2 and not call.keywords:
            given = ", ".join(map(editor.text_of, call.args))
            normal = f"{alias(where.module, 'torch')}.distributions.Normal({given})"
            edit = editor.replace(call, f"{normal}.rsample()")
            title = "Sample with a gradient: `rsample()`"
            yield Proposal("reparametrize", title, (edit,), "", rank)


def _cannot_pass_on(where: SourceLocation, sample: ast.Call) -> bool:
    """Return True if the distribution is created in this scope and has no differentiable sample."""
    assert isinstance(sample.func, ast.Attribute)
    made = sample.func.value
    written = [
        made,
        *(d.value for d in definitions(where.scope, spelled(made)) if isinstance(d, ast.Assign)),
    ]
    calls = [call for value in written for call in nodes_of(value, ast.Call)]
    return any(is_call(call, *_NO_RSAMPLE) for call in calls)


def asked_for(where: SourceLocation, origins: Sequence[SourceLocation]) -> Iterator[Proposal]:
    """Yield a proposal that makes a leaf of what was cut, if `autograd.grad` is called for just
    that.
    """
    call = where.call("torch.autograd.grad")
    inputs = call.args[1:2] + [k.value for k in call.keywords if k.arg == "inputs"] if call else []
    asked = {name for node in inputs for name in names_read(node)}
    for origin in origins:
        found = [node for node in cuts_in(origin.statement) if isinstance(node, ast.Call)]
        cuts = [node for node in found if is_call(node, "torch.Tensor.detach")]
        cut_names = sorted(asked & set(bindings(origin.statement)))
        if cuts and cut_names:
            edits = joined([origin.editor.append_to(node, ".requires_grad_()") for node in cuts])
            title = f"Let `{cut_names[0]}` require a gradient, which is asked for"
            yield Proposal("new-leaf", title, edits)


def as_parameters(origins: Sequence[SourceLocation], rank: int = 0) -> Iterator[Proposal]:
    """Yield a proposal with the parameters instead of a module's state, if the loss is computed
    from it.
    """
    for origin in origins:
        for call in calls_of(origin.statement, "torch.nn.Module.state_dict"):
            if call.args or call.keywords or not isinstance(call.func, ast.Attribute):
                continue
            owner, parents = origin.editor.text_of(call.func.value), origin.module.parents
            asked = parents.get(call)
            items = parents.get(asked) if isinstance(asked, ast.Attribute) else None
            if isinstance(items, ast.Call) and is_call(items, "list.items"):
                text, replaced = f"{owner}.named_parameters()", items
            else:
                text, replaced = f"{owner}.state_dict(keep_vars=True)", call
            edit = origin.editor.replace(replaced, text)
            yield Proposal("keep-graph", f"Keep the graph: `{text}`", (edit,), "", rank)
