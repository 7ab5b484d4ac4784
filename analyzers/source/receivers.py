"""Classify the receivers of `step` and `backward`: an optimizer, a tensor, or another object.

A call on an unknown receiver is judged by its form, as in incomplete code.
"""

from __future__ import annotations

import ast
import re

from analyzers.source import priors
from analyzers.source.name_resolution import Names, names_of
from analyzers.source.object_sources import Made, Makers
from analyzers.source.ops import FACTORIES
from analyzers.source.trees import nodes_of, remembered, walk

_OPTIMIZER = re.compile(r"(?i)optim|deepspeed\.initialize|GradScaler")
_SCHEDULER = re.compile(r"(?i)lr_scheduler|schedule")
_ENGINES = re.compile(  # of libraries: `engine.backward(loss)`
    r"accelerate\.Accelerator|(?:lightning|lightning_fabric|lightning\.fabric)\.Fabric"
    r"|deepspeed\.initialize|torch\.autograd$|torch\.distributed\.autograd"
)


@remembered
def steps_optimizer(call: ast.Call) -> bool:
    """Return True if a call of `step` may be an optimizer's: `opt.step()`, `scaler.step(opt)`."""
    names = names_of(call)
    if names is None or not isinstance(call.func, ast.Attribute):
        return len(call.args) <= 1
    return _steps_optimizer(call, call.func, Makers(names), names)


@remembered
def takes_loss(call: ast.Call) -> bool:
    """Return True if a call of `backward` receives the loss: `accelerator.backward(loss)`."""
    names = names_of(call)
    if names is None or not isinstance(call.func, ast.Attribute):
        return False
    return _takes_loss(call, call.func, Makers(names), names)


def _steps_optimizer(call: ast.Call, func: ast.Attribute, makers: Makers, names: Names) -> bool:
    """An optimizer's step returns a loss, or None: its result is neither unpacked nor indexed."""
    if len(call.args) > 1 or call in names.taken_apart:
        return False
    kinds = {_kind(path, made, names) for path, made in makers.of(func.value)}
    kinds.discard(None)
    if kinds:
        return "optimizer" in kinds
    return not priors.is_scheduler(ast.unparse(func.value))  # nothing else is known


def _kind(path: str, made: ast.expr, names: Names) -> str | None:
    """Return whether the object is an optimizer or something else that steps; None if unknown."""
    if path.startswith("."):
        owner = names.own_class(path)
        if owner is None:
            return None
        bases = [base for base in names.bases(owner) if not base.startswith(".")]
        if any(_SCHEDULER.search(base) for base in bases):
            return "other"
        method = names.method(owner, "step")
        if method is not None and not _is_given_parameters(made):
            return "optimizer" if _updates(method) else "other"
        known = _is_given_parameters(made) or any(_OPTIMIZER.search(base) for base in bases)
        return "optimizer" if known else None
    if _SCHEDULER.search(path):
        return "other"
    if _OPTIMIZER.search(path):
        return "optimizer"
    return "optimizer" if path and _is_given_parameters(made) else None


def _is_given_parameters(made: ast.expr) -> bool:
    """Return True if a call receives a model's `parameters()`."""
    if not isinstance(made, ast.Call):
        return False
    given = [*made.args, *(keyword.value for keyword in made.keywords)]
    within = (node for argument in given for node in walk(argument))
    return any(isinstance(n, ast.Attribute) and n.attr == "parameters" for n in within)


def _updates(method: ast.FunctionDef) -> bool:
    """Return True if a `step` of the script's own changes weights and does not compute their
    gradients: a whole iteration of this name (`trainer.step()`) contains its own steps.
    """
    if any(_calls(node, "backward") for node in walk(method)):
        return False
    return any(map(_moves, walk(method)))


def _moves(node: ast.AST) -> bool:
    """Return True if a node of a `step` writes to weights, or reads their gradients."""
    match node:
        case ast.Attribute(attr="grad"):
            return True
        case ast.AugAssign(target=target, op=ast.Sub() | ast.Add()):
            return _root(target) != "self" and bool(_names(node.value))
        case ast.Call(func=ast.Attribute(attr="step", value=value)):
            return not (isinstance(value, ast.Call) and _root(value.func) == "super")
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr.endswith("_") and not attr.startswith("_")
    return False


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr == name
    return False


def _takes_loss(call: ast.Call, func: ast.Attribute, makers: Makers, names: Names) -> bool:
    if len(call.args) != 1:
        return False
    if _ENGINES.search(names.qualified(func.value)):
        return True
    made = list(makers.of(func.value))
    if any(_ENGINES.search(path) for path, _ in made):
        return True
    own = [o for path, _ in made if path.startswith(".") and (o := names.own_class(path))]
    methods = [m for owner in own if (m := names.method(owner, "backward")) is not None]
    if any(map(_hands_on, methods)):
        return True
    if names.defines("backward"):  # an engine of the script's own: of gradients, or of losses
        return False
    held = isinstance(func.value, ast.Attribute)  # a loss has a name of its own
    unknown = all(_is_unknown(one) or (held and _is_bare_call(one)) for one in made)
    return unknown and any(map(_is_computed, makers.of(call.args[0])))


def _hands_on(method: ast.FunctionDef) -> bool:
    """Return True if a `backward` of the script's own calls backward on its argument."""
    given = {argument.arg for argument in method.args.args[1:]}
    for node in nodes_of(method, ast.For):
        if given & _names(node.iter):
            given |= _names(node.target)
    return any(
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and not node.args
        and bool(given & _names(node.func.value))
        for node in nodes_of(method, ast.Call)
    )


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in nodes_of(node, ast.Name)}


def _is_unknown(made: Made) -> bool:
    """Return True if nothing in the file computes it: it is passed from outside, or an object holds
    it.
    """
    return made[0] == "" and isinstance(made[1], ast.Name | ast.Attribute)


def _is_bare_call(made: Made) -> bool:
    """Return True if a function that the file does not define returned it."""
    path, value = made
    return path == "" and isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def _is_computed(made: Made) -> bool:
    """Return True if it comes from a computation other than one that fills a tensor: an initial
    gradient is usually ones.
    """
    path, value = made
    filled = path.rpartition(".")[2] in FACTORIES or _is_filled(value)
    return not (_is_unknown(made) or filled or isinstance(value, ast.Constant))


def _is_filled(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in FACTORIES or attr.startswith("new_")
    return False
