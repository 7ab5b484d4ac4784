"""An inner loop's graph is needed by more than one outer backward.

What happens: in MAML, unrolled optimisation and similar methods, the fast weights carry the graph
of the inner updates. The backward of each outer loss (one for each task or query step) runs through
that graph, and the first one frees it.

The fix: add the outer losses and call backward once. The inner gradients need `create_graph=True`,
so that the outer backward can run through them.

When this fix is wrong: when the tasks share no inner graph. Then each task has its own graph and
its own backward.

Broken::

    fast = weight - lr * torch.autograd.grad(inner, weight, create_graph=True)[0]
    for x, y in query_sets:
        criterion(x @ fast, y).backward()
    outer_optimizer.step()

Fixed::

    fast = weight - lr * torch.autograd.grad(inner, weight, create_graph=True)[0]
    total_loss = 0
    for x, y in query_sets:
        total_loss = total_loss + criterion(x @ fast, y)
    total_loss.backward()
    outer_optimizer.step()
"""

from __future__ import annotations

import ast

from analyzers.certainty import Certainty
from analyzers.evidence import Evidence
from analyzers.explain.pattern import Match
from analyzers.explain.reuse.describe import matched
from analyzers.explain.reuse.features import ReuseFeatures, story_of
from analyzers.explain.source_locations import resolve_location
from analyzers.repair.sites.call_options import option_site
from analyzers.source.callees import is_call
from analyzers.source.flow import bindings, names_read_by, walk_scope
from analyzers.source.project import Project, Scope, spelled
from analyzers.source.trees import nodes_of, remembered, walk
from provenance import CodeLine

ID = "GM006"
NAME = "higher-order"
FAMILY = "graph-reuse"
TITLE = "An inner loop's graph is needed by more than one outer backward"
CONCLUSION = (
    "The inner updates are one graph for all outer losses: add those up and call backward once."
)
BEFORE = ("derived-outside-loop", "grad-then-backward")

# Given one function, they give another, of its derivatives; `autograd.grad` is given tensors, two.
_TRANSFORMS = tuple(
    f"torch.Tensor.{name}" for name in ("grad", "grad_and_value", "hessian", "jacfwd", "jacrev")
)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a reused graph that holds gradients which are differentiable."""
    story = story_of(evidence, project)
    if story is None or story.reuse.same_root or not _through_gradients(story):
        return None
    if story.same_iteration and story.sums_earlier_roots:
        return None  # each of these losses went backward by itself already
    site = option_site(story, story.reuse.freed, "create_graph") if story.from_grad else None
    return matched(story, NAME, Certainty.CERTAIN, site.place if site is not None else None)


def _through_gradients(story: ReuseFeatures) -> bool:
    """Return True if the carried tensor comes from gradients that have a graph of their own."""
    for edge in story.reuse.stale_edges:
        for node in (edge.old, edge.raising):
            if node is not None and node.at is not None and _near_inner_update(story, node.at):
                return True
    return False


def _near_inner_update(story: ReuseFeatures, place: CodeLine) -> bool:
    """Return True if the line follows a call that records gradients, in its function."""
    where = resolve_location(story.project, place)
    if where is None:
        return False
    module, statement, scope = where.module, where.statement, where.scope
    inner = [
        call
        for call in _calls_that_keep(scope)
        if not _handed_back(module.statement_at(call.lineno, call.col_offset))
    ]
    return any(
        call.lineno <= place.line
        and _leads_on(scope, module.statement_at(call.lineno, call.col_offset), statement)
        for call in inner
    )


@remembered
def _calls_that_keep(scope: ast.AST) -> list[ast.Call]:
    return [node for node in nodes_of(scope, ast.Call) if _keeps_graph(node)]


def _keeps_graph(call: ast.Call) -> bool:
    """Return True if the gradients of a call are differentiable.

    They are by its option, or as the result of a transform (`torch.func.grad(loss)(weights)`).
    """
    options = {option.arg: option.value for option in call.keywords}
    if len(call.args) == 1 and "inputs" not in options and is_call(call, *_TRANSFORMS):
        return True
    given = options.get("create_graph")
    return given is not None and not (isinstance(given, ast.Constant) and not given.value)


def _leads_on(scope: Scope, inner: ast.stmt | None, made: ast.stmt) -> bool:
    """Return True if a statement may read the gradients that a call returned to its function.

    A call that binds no name leaves its gradients in `.grad`, which any statement may read.
    """
    names = set(bindings(inner)) if isinstance(inner, ast.Assign) else set()
    if not names or inner is made:
        return True
    given, pending = _given_by_reading(scope), list(names)
    while pending:
        more = given.get(pending.pop(), set()) - names
        names |= more
        pending += more
    return bool(names_read_by(made) & names)


@remembered
def _given_by_reading(scope: Scope) -> dict[str, set[str]]:
    """Return, for each name that a scope reads, the names that its readers may change."""
    found: dict[str, set[str]] = {}
    for node in walk_scope(scope):
        given = _given(node) if isinstance(node, ast.stmt) else []
        for name in names_read_by(node) if given and isinstance(node, ast.stmt) else ():
            found.setdefault(name, set()).update(given)
    return found


def _given(statement: ast.stmt) -> list[str]:
    """Return the names that a statement may change: bound ones, and objects of method calls."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    on = called.func if isinstance(called, ast.Call) else None
    owner = [spelled(on.value).partition(".")[0]] if isinstance(on, ast.Attribute) else []
    return [*bindings(statement), *owner]


def _handed_back(statement: ast.stmt | None) -> bool:
    """Return True if a function only returns the gradient that it computed: it moves no weight."""
    return isinstance(statement, ast.Return) and not any(
        isinstance(node, ast.BinOp | ast.comprehension) for node in walk(statement)
    )
