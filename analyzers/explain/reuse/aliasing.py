"""Resolve aliases: what a name or a call denotes."""

from __future__ import annotations

import ast

from analyzers.source.flow import definitions
from analyzers.source.project import Function, Project, Scope
from analyzers.source.signatures import defaults, positional


def denoted(value: ast.expr, scope: Scope, project: Project) -> ast.expr:
    """Return what an expression denotes: for a name, its only value in the scope; for a call of a
    function that only returns something, that value in the caller's terms; else the expression
    itself.
    """
    match value:
        case ast.Name(id=name):
            match definitions(scope, name):
                case [ast.Assign(targets=[ast.Name()], value=given)]:
                    return returned(given, project) or given
    return returned(value, project) or value


def returned(value: ast.expr, project: Project) -> ast.expr | None:
    """Return what a call of a function that does nothing else returns, in the caller's terms; None
    for other calls.
    """
    if not isinstance(value, ast.Call):
        return None
    found = [function for _, function in project.functions_called(value)]
    answer = _only_returns(found[0]) if len(found) == 1 else None
    if answer is None:
        return None
    method = positional(found[0])[:1] == ["self"] and isinstance(value.func, ast.Attribute)
    owner = [value.func.value] if method and isinstance(value.func, ast.Attribute) else []
    literal = {n: v for n, v in defaults(found[0]).items() if isinstance(v, ast.Constant)}
    filled = zip(positional(found[0]), [*owner, *value.args], strict=False)
    given = literal | dict(filled)
    given |= {keyword.arg or "**": keyword.value for keyword in value.keywords}
    if not _fills(found[0], given):
        return None
    own = ast.parse(ast.unparse(answer), mode="eval").body  # trees that are shared never change
    said: ast.expr = _Substituted(given).visit(own)
    return said


def _only_returns(function: Function) -> ast.expr | None:
    body = function.body if isinstance(function.body, list) else []
    text = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    match body[1:] if text else body:
        case [ast.Return(value=answer)]:
            return answer
    return None


def _fills(function: Function, given: dict[str, ast.expr]) -> bool:
    return given.keys() == {*positional(function)} and not any(
        isinstance(argument, ast.Starred) for argument in given.values()
    )


class _Substituted(ast.NodeTransformer):
    """Replace parameters by the arguments passed for them."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._given.get(node.id, node)
