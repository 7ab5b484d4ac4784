"""Find calls in source, by what they call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from analyzers.source.callees import is_call, keyword, own_name, plain_name
from analyzers.source.flow import names_read
from analyzers.source.project import Module, Project, spelled
from analyzers.source.receivers import steps_optimizer
from analyzers.source.trees import nodes_of, remembered
from analyzers.source.writes import is_true, unsliced, writes_in_place

OPTIMIZER_STEP = "torch.optim.Optimizer.step"
ZERO_GRAD = ("torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad")
CLIPPING = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "clip_grads_with_norm_")
PARAMETERS = ("torch.nn.Module.parameters", "torch.nn.Module.named_parameters")


def calls_of(node: ast.AST, *wanted: str) -> list[ast.Call]:
    """Return the calls that may be of these functions and methods, given as qualified names
    (`torch.Tensor.detach`), in source order.
    """
    return _in_order(
        call
        for one in set(wanted)
        for call in _named(node, one.rpartition(".")[2])
        if is_call(call, one) and (one != OPTIMIZER_STEP or _is_step(call))
    )


def operations_in(node: ast.AST, names: Iterable[str]) -> list[ast.Call]:
    """Return the calls that may apply these operations on tensors, in source order."""
    return calls_of(node, *(f"torch.Tensor.{name}" for name in names))


def keeps_gradients(scope: ast.AST) -> bool:
    """Return True if a scope asks for gradients with a graph: an update by them is meant to be a
    part of it.
    """
    asked = calls_of(scope, "torch.autograd.grad", "torch.Tensor.backward")
    return any(is_true(keyword(one, "create_graph")) for one in asked)


def own_calls(node: ast.AST, *names: str) -> list[ast.Call]:
    """Return the calls that may be of the script's functions of these names, in source order."""
    found = (call for name in set(names) for call in _named(node, name))
    return _in_order(call for call in found if own_name(call))


def _named(node: ast.AST, name: str) -> Sequence[ast.Call]:
    if isinstance(node, ast.stmt | ast.mod):
        return calls_in(node).get(name, ())
    return [n for n in nodes_of(node, ast.Call) if plain_name(n) == name]


def _in_order(found: Iterable[ast.Call]) -> list[ast.Call]:
    return sorted(set(found), key=lambda call: (call.lineno, call.col_offset))


def call_in(statement: ast.stmt | None, line: int, *wanted: str) -> ast.Call | None:
    """Return the call of one of these in a statement, preferably one that spans the line."""
    found = calls_of(statement, *wanted) if statement is not None else []
    around = [c for c in found if c.lineno <= line <= (c.end_lineno or c.lineno)]
    return next(iter(around or found), None)


def receivers_of(methods: Iterable[ast.Call]) -> set[str]:
    """Return what methods are called on: `optimizer` for `optimizer.step()`."""
    return {spelled(call.func.value) for call in methods if isinstance(call.func, ast.Attribute)}


@remembered
def calls_in(tree: ast.stmt | ast.mod) -> dict[str, list[ast.Call]]:
    """Return the calls of a file or a statement by the last part of what they call."""
    found: dict[str, list[ast.Call]] = {}
    for node in nodes_of(tree, ast.Call):
        found.setdefault(plain_name(node), []).append(node)
    return found


def calls_to(project: Project, name: str) -> list[tuple[Module, ast.Call]]:
    """Return the calls that may be of the script's own function of this name, in all modules."""
    return [
        (module, call)
        for module in project.modules.values()
        for call in calls_in(module.tree).get(name, ())
        if own_name(call)
    ]


def each_call(project: Project, *wanted: str) -> Iterator[tuple[Module, ast.Call]]:
    """Yield the calls that may be of these functions and methods, in all modules."""
    for module in project.modules.values():
        for call in calls_of(module.tree, *wanted):
            yield module, call


def argument_for(call: ast.Call, parameters: Sequence[str], name: str) -> ast.expr | None:
    """Return the argument that a call passes for a parameter, by keyword or by position."""
    return keyword(call, name) or next(iter(call.args[parameters.index(name) :]), None)


def asks_for_gradient(call: ast.Call) -> bool:
    """Return True if a call has its tensor require a gradient: not with `False`."""
    is_method = is_call(call, "torch.Tensor.requires_grad_")
    given = keyword(call, "requires_grad") or next(iter(call.args * is_method), None)
    return not is_false(given) if given is not None else is_method


def is_false(value: ast.AST | None) -> bool:
    """Return True for the constant `False`."""
    return isinstance(value, ast.Constant) and value.value is False


def makes_leaf(value: ast.expr) -> bool:
    """Return True if a value is created as a leaf: a parameter, or a tensor
    with `requires_grad`.
    """
    calls = nodes_of(value, ast.Call)
    return any(is_call(call, "torch.nn.Parameter") or asks_for_gradient(call) for call in calls)


def reads_gradient(node: ast.AST) -> bool:
    """Return True if a `.grad` occurs in a tree."""
    return any(inner.attr == "grad" for inner in nodes_of(node, ast.Attribute))


def gradients_read(module: Module) -> Iterator[ast.Attribute]:
    """Yield where a file reads `.grad` of a tensor."""
    for node in module.each(ast.Attribute):
        if node.attr == "grad" and isinstance(node.ctx, ast.Load):
            if not spelled(node).endswith("autograd.grad"):
                yield node


def named_alone(statements: Iterable[ast.AST], text: str) -> Iterator[ast.expr]:
    """Yield what statements name and do not call: `opt.step` without parentheses."""
    for one in statements:
        if isinstance(one, ast.Expr) and spelled(one.value) == text:
            yield one.value


def steps(node: ast.AST) -> list[ast.Call]:
    """Return calls that may be an optimizer's step (`opt.step()`, `scaler.step(opt)`)."""
    return calls_of(node, OPTIMIZER_STEP)


def _is_step(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and steps_optimizer(call)


def updates_by_hand(node: ast.AST) -> list[ast.stmt]:
    """Return the statements that write a step against its gradient to a weight (`p -= lr * p.grad`,
    `p.data.sub_(lr * p.grad)`, `p.value = p.value - rate * p.grad`).
    """
    return [s for s in nodes_of(node, ast.stmt) if _is_update(s)]


def _is_update(statement: ast.stmt) -> bool:
    match statement:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), target=target, value=value):
            return _by_gradient(target, value)
        case ast.Assign(targets=[target], value=ast.BinOp(op=ast.Add() | ast.Sub()) as value):
            own = spelled(unsliced(target)) in names_read(value)
            return own and _by_gradient(target, value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=attr)) as call):
            return writes_in_place(attr) and any(_by_gradient(target, a) for a in call.args)
    return False


def _by_gradient(target: ast.expr, value: ast.expr) -> bool:
    """Return True if a value contains the gradient of its target."""
    if reads_gradient(target):
        return False  # gradients that are added up, or clipped
    root = spelled(unsliced(target)).partition(".")[0]
    return any(
        n.attr == "grad" and spelled(n.value).partition(".")[0] == root
        for n in nodes_of(value, ast.Attribute)
    )
