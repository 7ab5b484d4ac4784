"""Leaves that are moved to another device or type, and gradients that are read of the copy."""

from __future__ import annotations

import ast
import re

from analyzers.advice.looking import REGISTERING, Found, last_name, requires_grad, short
from analyzers.source.backward import backward_calls
from analyzers.source.callees import keyword
from analyzers.source.calls import is_false, makes_leaf
from analyzers.source.flow import bindings, definitions, mentions, value_of, walk_scope
from analyzers.source.project import Module, spelled
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of

_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_CONVERSIONS = ("to", "cuda", "half", "float", "double", "bfloat16")
_USUAL = re.compile(r"(torch\.device\()?'cpu'\)?|torch\.float(32)?")  # of a tensor that is made
_KEEPING = ("retain_grad", "requires_grad", "requires_grad_", "detach_")


def moved_leaf(node: ast.AST, module: Module) -> Found:
    """Match `torch.randn(3, requires_grad=True).cuda()`, and `x = x.cuda()` of such a leaf."""
    if isinstance(node, ast.Assign):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        moved = (_moved(value) for value in values)
        name = next((n for n in moved if n in assigned(node) and _is_leaf(n, node, module)), None)
        return (name, node) if name is not None else None
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="cuda" | "to" | "double")):
            if keyword(made, "requires_grad") is not None:
                return short(made.func)
    return None


def moved_leaf_read(node: ast.AST, module: Module) -> Found:
    """Match the same of a leaf whose `.grad` is read, if only in the words around the code."""
    statements = [n for n in (node, module.parents.get(node)) if isinstance(n, ast.stmt)]
    read = {spelled(a.value) for a in module.each(ast.Attribute) if a.attr == "grad"}
    asked = read.intersection(*map(bindings, statements)) or (
        not read and backward_calls(module.tree)
    )
    return moved_leaf(node, module) if asked else None


def moved_leaf_missed(node: ast.AST, module: Module) -> Found:
    """Match `x = x.cuda()` of a leaf, where a later line of the scope reads `x.grad`, and no line
    between makes it another tensor, or one that keeps its gradient."""
    if not isinstance(node, ast.Assign) or (found := moved_leaf(node, module)) is None:
        return None
    name, scope = found[0], module.scope_of(node)
    made = definitions(scope, name)
    at = made.index(node)
    last = value_of(made[at - 1]) if at else None
    flagged = definitions(scope, f"{name}.requires_grad")
    if last is None or not (makes_leaf(last) or flagged) or len(made) > at + 1:
        return None
    later = [n for n in walk_scope(scope) if getattr(n, "lineno", 0) > node.lineno]
    used = {n.attr for n in later if isinstance(n, ast.Attribute) and spelled(n.value) == name}
    return found if "grad" in used and used.isdisjoint(_KEEPING) else None


def _moved(value: ast.expr) -> str | None:
    """Return the name of a tensor that an expression moves, or None."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cuda" | "to")):
            return name
    return None


def _is_leaf(name: str | None, before: ast.Assign, module: Module) -> bool:
    """Return True if a name was made a leaf that requires grad above a statement of its scope."""
    flagged, scope = requires_grad(True), module.scope_of(before)
    above = [
        node
        for node in module.each(ast.Assign)
        if node.lineno < before.lineno and module.scope_of(node) is scope
    ]
    return any(
        flagged(node, module) == f"{name}.requires_grad"
        or (name in assigned(node) and makes_leaf(node.value))
        for node in above
    )


def layer_after_move(node: ast.AST, module: Module) -> Found:
    """Match `model.fc = nn.Linear(…)` below `model = Net().to(device)`, where nothing moves the
    model again: the new layer stays where it was made."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner))], value=ast.Call() as made
        ):
            qualified = module.names.qualified(made.func)
            if not qualified.startswith("torch.nn.") or keyword(made, "device") is not None:
                return None
            moves = [n.lineno for n in module.each(ast.Call) if _moves(n, owner, module)]
            before = any(line < node.lineno for line in moves)
            return (spelled(node.targets[0]), node) if before and max(moves) < node.lineno else None
    return None


def _moves(call: ast.Call, owner: str, module: Module) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("to", "cuda"):
        return False
    statement = module.parents.get(call)
    bound = isinstance(statement, ast.Assign) and owner in map(spelled, statement.targets)
    return bound or spelled(call.func.value) == owner


def moved_parameter(node: ast.AST, module: Module) -> str | None:
    """Match `self.w = nn.Parameter(…).to(device)`: what comes out of `.to()` is no parameter. Not
    where that changes nothing, nothing is to be trained, or the class registers it afterwards.
    """
    if not isinstance(node, ast.Assign) or not spelled(node.targets[0]).startswith("self."):
        return None
    value, moves, owner = node.value, list[ast.Call](), module.class_of(node)
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in _CONVERSIONS or not isinstance(value.func.value, ast.Call):
            break
        moves.append(value)
        value = value.func.value
    if not isinstance(value, ast.Call) or module.names.qualified(value.func) not in _PARAMETERS:
        return None
    if is_false(keyword(value, "requires_grad")) or (owner is not None and not owner.bases):
        return None
    named = node.targets[0]
    moved = any(_changes(move, value, module) for move in moves)
    return short(named) if moved and not (owner and _registers(owner, spelled(named))) else None


def _changes(call: ast.Call, made: ast.Call, module: Module) -> bool:
    """Return True if a call changes where or in which precision a tensor is that is made on the
    CPU, in single precision, or where the call that makes it says."""
    given = [*call.args, *(k.value for k in call.keywords)]
    names = {spelled(one) for one in given}
    bound = {spelled(v) for name in names for s in definitions(module.tree, name)
             if (v := value_of(s)) is not None}  # fmt: skip
    there = {spelled(k.value) for c in nodes_of(made, ast.Call) for k in c.keywords}
    stays = all(_USUAL.fullmatch(name) or name in there for name in bound or names)
    return last_name(call.func) != "float" and not (given and stays)


def _registers(owner: ast.ClassDef, name: str) -> bool:
    """Return True if a class makes a parameter of an attribute: `self.w = nn.Parameter(self.w)`."""
    calls = nodes_of(owner, ast.Call)
    known = (call for call in calls if last_name(call.func) in REGISTERING)
    return any(mentions(call, name) or repr(name[5:]) in spelled(call) for call in known)
