"""Fix second uses by retaining a graph, or by making one of the gradients themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.features import ReuseFeatures
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.rewrite import with_keyword
from analyzers.repair.sites.ascent import moves_its_input
from analyzers.repair.sites.call_options import option_site
from analyzers.repair.sites.uses import carried_from, carrying
from analyzers.source.backward import backward_root
from analyzers.source.callees import keyword, own_name
from analyzers.source.calls import ZERO_GRAD, calls_of, calls_to, reads_gradient
from analyzers.source.edits import Edit, Editor
from analyzers.source.flow import definitions, is_dotted, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, Scope, spelled
from analyzers.source.reads import attributes_loaded
from analyzers.source.signatures import switches
from analyzers.source.trees import nodes_of, walk

_MAX_CALLERS = 4


def retain_on_first(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield the last resort: retain the first graph."""
    site = option_site(story, story.reuse.freed, "retain_graph")
    if site is not None:
        title = "Last resort: keep the graph of the first backward"
        set_to = "the graph stays in memory until the second backward, and a step between the two"
        yield _last_resort(title, set_to, site.set_to())


def retain_for_each(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal for losses whose gradients are used separately: each backward call but the
    last retains the graph that they share.
    """
    loop, site = story.loop, option_site(story, story.reuse.freed, "retain_graph")
    if site is None or not isinstance(loop, ast.For) or not uses_each_gradient(story):
        return
    cost = "The graph stays in memory until the last of them."
    values = ["True"]
    if isinstance(loop.target, ast.Name) and is_dotted(loop.iter):
        values = [f"{loop.target.id} is not {spelled(loop.iter)}[-1]", *values]
    for place, value in enumerate(values):
        title = "Keep the shared graph for the gradients of each loss"
        yield Proposal("retain-for-each", title, (site.set_to(value),), cost, 2 + place)


def uses_each_gradient(story: ReuseFeatures) -> bool:
    """Return True if a loop runs backward on each of several losses, and clears or reads gradients
    between them."""
    loop = story.loop
    if not isinstance(loop, ast.For) or not story.each_of_many:
        return False
    return bool(calls_of(loop, *ZERO_GRAD) or attributes_loaded(walk(loop), "grad"))


def ask_again(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield `Tape(persistent=True)` if the tape raises unless its constructor
    allowed a second use.
    """
    shared = story.shared
    if shared is None or story.reuse.engine == "torch":
        return
    permits = {
        kind.name: option
        for _, kind in story.project.each(ast.ClassDef)
        for option in _that_permit(kind)
    }
    for call in walk_scope(shared.scope):
        name = own_name(call) if isinstance(call, ast.Call) else ""
        option = permits.get(name)
        if option and isinstance(call, ast.Call):
            if not any(keyword.arg in (option, None) for keyword in call.keywords):
                title = f"Last resort: make `{name}` with `{option}=True`"
                edit = with_keyword(Editor(shared.module), call, option)
                set_to = "what was recorded stays in memory, and a step between the two backwards"
                yield _last_resort(title, set_to, edit)


def _last_resort(title: str, reason: str, edit: Edit) -> Proposal:
    cost = f"Last resort: {reason} would leave it with weights that have changed."
    return Proposal("retain-graph", title, (edit,), cost, 9, last_resort=True)


def _that_permit(kind: ast.ClassDef) -> Iterator[str]:
    """Yield options of the class's constructor that are off by default and without which a method
    raises.
    """
    inits = [s for s in kind.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
    options = {name for init in inits for name in switches(init)}
    for node in nodes_of(kind, ast.If):
        if any(isinstance(s, ast.Raise) for s in node.body):
            for part in walk(node.test):
                match part:
                    case ast.UnaryOp(
                        op=ast.Not(), operand=ast.Attribute(value=ast.Name(id="self"), attr=name)
                    ) if name in options:
                        yield name


def retain_on_both(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that retains the graph at both calls, where repeated use is intended: in
    overlapping windows of steps.
    """
    reuse = story.reuse
    sites = [
        option_site(story, backward_call, "retain_graph")
        for backward_call in (reuse.freed, reuse.reached)
    ]
    edits = dict.fromkeys(site.set_to() for site in sites if site is not None)
    if len(edits) == len(sites):
        title = "Keep the graph at both backward calls: their windows overlap"
        cost = "The graphs stay in memory for as long as the window holds their states."
        yield Proposal("retain-graph", title, tuple(edits), cost, 2)


def hands_on_gradients(story: ReuseFeatures) -> bool:
    """Return True if a backward call near the failing one gets another tensor's `.grad`."""
    return any(
        isinstance(call.func, ast.Attribute)
        and bool(call.args)
        and _gradient_like(call.args[0], where.module.scope_of(call))
        for backward_call in (story.reuse.reached, story.reuse.freed)
        if (where := resolve_location(story.project, backward_call.at)) is not None
        for call in calls_of(where.scope, "torch.Tensor.backward")
    )


def _gradient_like(argument: ast.expr, scope: Scope) -> bool:
    if reads_gradient(argument):
        return True
    given = definitions(scope, argument.id) if isinstance(argument, ast.Name) else []
    return any(isinstance(node, ast.Assign) and reads_gradient(node.value) for node in given)


def keep_for_second(story: ReuseFeatures) -> Iterator[Proposal]:
    """Yield a proposal that makes `autograd.grad` retain the graph, or create one of the gradients:
    where it is called, or where a helper is called that passes the option on.
    """
    site = option_site(story, story.reuse.freed, "create_graph")
    if site is None:
        return
    learnt = _reaches_backward(story.project, site.module, site.statement) and not _in_hook(story)
    learnt = learnt and not _moves_input(story)
    yield Proposal(
        "create-graph",
        "Keep a graph of the gradients, too",
        (site.set_to(),),
        "" if learnt else "Only if the gradients themselves are part of the loss.",
        0 if learnt else SECOND_CHOICE + 1,
    )
    kept = option_site(story, story.reuse.freed, "retain_graph")
    assert kept is not None
    yield Proposal(
        "retain-graph",
        "Keep the graph for the second backward",
        (kept.set_to(),),
        "Only if the gradients are looked at, not learnt from." if learnt else "",
        5 if learnt else 0,
    )


def _moves_input(story: ReuseFeatures) -> bool:
    """Return True if the gradient is used as the direction of a step of its own input."""
    where = resolve_location(story.project, story.reuse.freed.at)
    call = where.call("torch.autograd.grad") if where is not None else None
    if where is None or call is None or len(call.args) < 2:
        return False
    asked = call.args[1]
    asked = asked.elts[0] if isinstance(asked, ast.List | ast.Tuple) and asked.elts else asked
    return moves_its_input(story.project, where.module, where.statement, spelled(asked))


def _in_hook(story: ReuseFeatures) -> bool:
    """Return True if an outer backward call was running that creates no graph of what its hooks
    return.
    """
    outer = [resolve_location(story.project, place) for place in story.reuse.freed.stack[:-1]]
    calls = [
        call
        for where in outer
        if where and (call := where.call("torch.Tensor.backward")) is not None
    ]
    return any(keyword(call, "create_graph") is None for call in calls)


def _reaches_backward(
    project: Project, module: Module, statement: ast.stmt, depth: int = _MAX_CALLERS
) -> bool:
    """Return True if what a statement binds or returns becomes part of a tensor on which
    `backward()` is called; also if no caller of the returning function is visible.
    """
    scope = module.scope_of(statement)
    carried, returned = carried_from(scope, statement)
    backwards = calls_of(
        scope, "torch.Tensor.backward", "lightning.LightningModule.manual_backward"
    )
    roots = [root for backward in backwards if (root := backward_root(backward)) is not None]
    if carrying(roots) & carried:
        return True
    if not returned or not isinstance(scope, FUNCTIONS[:2]):
        return False
    calls = calls_to(project, scope.name) if depth else []
    callers = [(m, s) for m, c in calls if (s := m.statement_at(c.lineno, c.col_offset))]
    return not callers or any(_reaches_backward(project, *caller, depth - 1) for caller in callers)
