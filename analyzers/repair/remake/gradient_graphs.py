"""Fixes for `autograd.grad` on a graph that is needed again: kept, or with a graph of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.pattern import SECOND_CHOICE, Proposal
from analyzers.explain.reuse.feeding import put_in
from analyzers.explain.reuse.story import Story
from analyzers.explain.spots import spot
from analyzers.repair.sites.options import option_site
from analyzers.repair.sites.uses import carrying
from analyzers.source.calls import calls_named, calls_to
from analyzers.source.flow import bindings, statements_of, value_of, walked
from analyzers.source.project import FUNCTIONS, Module, Project
from analyzers.source.trees import position

_MAX_CALLERS = 4


def keep_for_second(story: Story) -> Iterator[Proposal]:
    """Tell `autograd.grad` to keep the graph, or to make one of the gradients: where it is called,
    or where a helper is called that hands the option on."""
    site = option_site(story, story.reuse.freed, "create_graph")
    if site is None:
        return
    learnt = _reaches_walk(story.project, site.module, site.statement) and not _in_hook(story)
    yield Proposal(
        "create-graph",
        "Make a graph of the gradients too",
        (site.told(),),
        "" if learnt else "Only if the gradients themselves are part of the loss.",
        0 if learnt else SECOND_CHOICE + 1,
    )
    kept = option_site(story, story.reuse.freed, "retain_graph")
    assert kept is not None
    yield Proposal(
        "retain-graph",
        "Keep the graph for the second backward",
        (kept.told(),),
        "Only if the gradients are looked at, not learnt from." if learnt else "",
        5 if learnt else 0,
    )


def _in_hook(story: Story) -> bool:
    """Whether a walk was under way that makes no graph of what its hooks hand back."""
    outer = [spot(story.project, place) for place in story.reuse.freed.stack[:-1]]
    calls = [call for where in outer if where and (call := where.call("backward")) is not None]
    return any(not {"create_graph"} & {k.arg for k in call.keywords} for call in calls)


def _reaches_walk(
    project: Project, module: Module, statement: ast.stmt, depth: int = _MAX_CALLERS
) -> bool:
    """Whether what a statement binds or returns becomes part of a tensor that a `backward()`
    walks; also where nobody can be seen to call the function that returns it."""
    scope = module.scope_of(statement)
    tainted, returned = set(bindings(statement)), isinstance(statement, ast.Return)
    for later in statements_of(scope):
        value = later.value if isinstance(later, ast.Return) else value_of(later) or put_in(later)
        if position(later) > position(statement) and value and carrying([value]) & tainted:
            tainted |= set(bindings(later))
            returned = returned or isinstance(later, ast.Return)
    walks = calls_named(scope, "backward", "manual_backward")
    roots = [root for walk in walks if (root := walked(walk)) is not None]
    if carrying(roots) & tainted:
        return True
    if not returned or not isinstance(scope, FUNCTIONS[:2]):
        return False
    callers = list(_callers(project, scope.name)) if depth else []
    return not callers or any(_reaches_walk(project, *caller, depth - 1) for caller in callers)


def _callers(project: Project, name: str) -> Iterator[tuple[Module, ast.stmt]]:
    """The statements that call a function of this name."""
    for module, call in calls_to(project, name):
        statement = module.statement_at(call.lineno, call.col_offset)
        if statement is not None:
            yield module, statement
