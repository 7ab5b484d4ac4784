"""Ask for the gradient of an input before anything is computed from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.evidence import MissingGraph
from analyzers.explain.pattern import Proposal
from analyzers.explain.source_locations import SourceLocation, names_held
from analyzers.source.flow import definitions, own_expressions, statements_of
from analyzers.source.project import spelled
from analyzers.source.trees import position


def requiring_grad(where: SourceLocation, evidence: MissingGraph) -> Iterator[Proposal]:
    """Yield a proposal with `requires_grad_()` on the input, before the differentiating function
    uses it.
    """
    for name in names_held(evidence.holders)[:1]:
        if (user := _first_user(where, name)) is not None:
            edit = where.editor.insert_before(user, f"{name}.requires_grad_()")
            title = f"Record what is computed from `{name}`"
            yield Proposal("require-grad", title, (edit,))


def _first_user(where: SourceLocation, name: str) -> ast.stmt | None:
    """Return the first statement that itself reads a name, after what binds it last before the
    place.
    """
    bound = [s for s in definitions(where.scope, name) if position(s) < position(where.statement)]
    start = max(map(position, bound), default=(0, 0))
    following = (s for s in statements_of(where.scope) if position(s) > start)
    return next((s for s in following if _reads(s, name)), None)


def _reads(statement: ast.stmt, name: str) -> bool:
    paths = (n for n in own_expressions(statement) if isinstance(n, ast.Name | ast.Attribute))
    return any(isinstance(n.ctx, ast.Load) and spelled(n) == name for n in paths)
