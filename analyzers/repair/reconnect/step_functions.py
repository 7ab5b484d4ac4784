"""Find the step function that a loss was computed through."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from analyzers.explain.source_locations import SourceLocation
from analyzers.repair.blocks import alias
from analyzers.repair.reconnect.cutting_expressions import base_of
from analyzers.source.callees import in_library, is_call, keyword, operation
from analyzers.source.calls import calls_of
from analyzers.source.flow import bindings, definitions, is_dotted, names_read, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.statement_ranges import statements_after
from analyzers.source.trees import nodes_of, walk

_STEPWISE = frozenset({"round", "sign", "floor", "ceil", "trunc", "int", "long", "bool"})
FLOATS = frozenset({"float", "double", "half"})
CASTS = FLOATS | {"to", "type"}
_ORDERS = frozenset({"permute", "transpose", "movedim", "moveaxis", "contiguous"})
_SCATTERS = ("torch.Tensor.scatter", "torch.Tensor.scatter_")
_COMPARISONS = ("gt", "ge", "lt", "le")


class StepFunction(NamedTuple):
    """A step function, which has no gradient: the expression and its statement, what it is applied
    to, and the text of what has one in its place. `idle`: the statement of a choice that nothing
    else reads."""

    statement: ast.stmt
    hard: ast.expr
    of: ast.expr
    soft: str
    idle: ast.stmt | None = None


def softened(where: SourceLocation) -> StepFunction | None:
    """Return the first step function of a statement, or the one-hot rows of a choice in it."""
    for node in walk(where.statement):
        of = _soft(node)
        if of is not None and isinstance(node, ast.expr):
            return StepFunction(where.statement, node, of, where.editor.text_of(of))
    return _chosen_rows(where)


def flagged(module: Module, hard: ast.expr) -> ast.expr:
    """Return the step with a `.requires_grad_()` after it, which hides the missing gradient."""
    method = module.parents.get(hard)
    flag = module.parents.get(method) if isinstance(method, ast.Attribute) else None
    forced = isinstance(flag, ast.Call) and is_call(flag, "torch.Tensor.requires_grad_")
    return flag if forced and isinstance(flag, ast.expr) else hard


def comes_of(where: SourceLocation, given: ast.expr, *functions: str) -> bool:
    """Return True if a value, or what its names are bound to, is the result of such a function."""
    values: list[ast.expr | None] = [given]
    for name in names_read(given):
        values += [value_of(statement) for statement in definitions(where.scope, name)]
    calls = (call for value in values if value for call in nodes_of(value, ast.Call))
    named = [name for call in calls if not (name := operation(call)).startswith("log_")]
    return any(function in name for name in named for function in functions)


def _soft(node: ast.AST) -> ast.expr | None:
    """Return the operand of a step function, or None.

    It is `p` for `(p > 0.5).float()`, `p.ge(0.5).int()`, `p.round()`, `torch.round(p)` and
    `torch.where(p > 0.5, 1.0, 0.0)`.
    """
    if not isinstance(node, ast.Call):
        return None
    name, operand = operation(node), operand_of(node)
    if name in (*CASTS, "int", "long") and isinstance(operand, ast.Compare):
        return operand.left
    if name in (*CASTS, "int", "long") and isinstance(operand, ast.Call):
        if operation(operand) in (*_COMPARISONS, "round", "argsort"):
            return without(operand, operation(operand))
    if name == "argsort":
        return without(node, name)
    match node.args:
        case [ast.Compare(left=value), one, other] if name == "where":
            return value if _is_level(one) and _is_level(other) else None
    return operand if name in _STEPWISE and "." in spelled(node.func) else None


def _is_level(value: ast.expr) -> bool:
    """Return True for one number or a tensor filled with one: `1.0`, `torch.ones_like(p)`."""
    made = operation(value) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Constant) or made in ("ones_like", "zeros_like", "full_like")


def operand_of(call: ast.Call) -> ast.expr | None:
    """Return the object of a method call, or the first argument of a library function."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is not None and not (is_dotted(owner) and in_library(call)):
        return owner
    return call.args[0] if call.args else None


def without(node: ast.expr, *names: str) -> ast.expr:
    """Return the operand of calls of these names: `x` of `x.argsort().argsort()`,
    `torch.argsort(x)`."""
    while isinstance(node, ast.Call) and operation(node) in names:
        if (operand := operand_of(node)) is None:
            break
        node = operand
    return node


def _chosen_rows(where: SourceLocation) -> StepFunction | None:
    """Return the first one-hot rows of the highest index, in this statement or a later one.

    The step includes casts and permutations; the softmax has the dimension order of the scores.
    """
    module, statement = where.module, where.statement
    chosen = next(choosing(where), None)
    scores = operand_of(chosen) if chosen is not None else None
    names, dim = set(bindings(statement)) - {"_"}, _dimension(chosen, scores)
    if scores is None or chosen is None or not dim:
        return None
    scores = base_of(scores)
    soft = where.editor.text_of(scores)
    if not comes_of(where, scores, "softmax"):
        soft = f"{alias(module, 'torch')}.softmax({soft}, dim={dim})"
    later = statements_after(module, statement)
    for one in (statement, *later):
        for call in calls_of(one, "torch.Tensor.one_hot", *_SCATTERS):
            own, index = module.holds(call, chosen), _index_of(call)
            if index is not None and (own or names & names_read(index)):
                last = later if names.isdisjoint(bindings(one)) else later[: later.index(one)]
                read = own or any(names & names_read(s) for s in last if s is not one)
                hard = _arranged(module, call)
                return StepFunction(one, hard, scores, soft, None if read else statement)
    return None


def _index_of(rows: ast.Call) -> ast.expr | None:
    """Return the indices of `one_hot(index)`, or of `zeros.scatter_(dim, index, 1.0)`."""
    match rows.args:
        case [_, index, ast.Constant(value=1)] if operation(rows) != "one_hot":
            return index
        case [index, *_] if operation(rows) == "one_hot":
            return index
    return None


def _dimension(choice: ast.Call | None, scores: ast.expr | None) -> str:
    """Return the source of the dimension of an argmax, or its default."""
    if choice is None:
        return ""
    given = [one for one in choice.args if one is not scores][:1]
    given += [keyword.value for keyword in choice.keywords if keyword.arg in ("dim", "axis")]
    return spelled(given[0]) if given else ""


def _arranged(module: Module, call: ast.Call) -> ast.expr:
    """Return a call with the casts and permutations applied to it."""
    method = module.parents.get(call)
    outer = module.parents.get(method) if isinstance(method, ast.Attribute) else None
    if isinstance(outer, ast.Call) and operation(outer) in CASTS | _ORDERS:
        return _arranged(module, outer)
    return call


def choosing(where: SourceLocation) -> Iterator[ast.Call]:
    """Yield the calls that compute indices of the largest: `argmax`, or `max` along a dimension."""
    yield from calls_of(where.statement, "torch.Tensor.argmax")
    for call in calls_of(where.statement, "torch.Tensor.max"):
        given = len(call.args) - (operand_of(call) in call.args)
        if given == 1 or keyword(call, "dim") is not None:
            yield call


def indices(statement: ast.stmt) -> list[ast.expr]:
    """Return the targets that get indices: the second of `_, chosen = scores.max(1)`."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id="_"), chosen])]):
            return [chosen]
        case ast.Assign(targets=targets):
            return targets
    return []
