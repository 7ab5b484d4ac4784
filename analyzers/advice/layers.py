"""Layers that a module does not know for its own: named looks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.advice.looking import last_name, short
from analyzers.source.callees import creates_module
from analyzers.source.flow import mentions
from analyzers.source.ops import CONTAINERS, FACTORIES, WEIGHTLESS
from analyzers.source.project import Module, spelled
from analyzers.source.reads import names_loaded
from analyzers.source.trees import nodes_of, walk

_WITHOUT_WEIGHTS = WEIGHTLESS.keys() | CONTAINERS | FACTORIES | {"Parameter"}


def unregistered_layers(node: ast.AST, module: Module) -> str | None:
    """Match `self.layers = [nn.Linear(…), …]`: a plain list or dictionary, which a module does not
    know for parts of its own.
    """
    if not isinstance(node, ast.Assign) or not _is_plain(node.value):
        return None
    target = next((t for t in node.targets if spelled(t).startswith("self.")), None)
    owner = module.class_of(node)
    if target is None or owner is None or not owner.bases:
        return None
    made = _makes_layers(node.value) or any(_makes_layers(p) for p in _put_into(target, owner))
    return short(target) if made and not _handed_on(spelled(target), node, owner) else None


def layer_made_in_forward(node: ast.AST, module: Module) -> str | None:
    """Match `layer = Linear(4, 4)` in a `forward` that then calls it. A layer into which the
    forward writes is a filter with fixed weights.
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            made = _made(value)
        case _:
            return None
    function = module.scope_of(node)
    in_forward = isinstance(function, ast.FunctionDef) and function.name == "forward"
    if not in_forward or module.class_of(node) is None or not _learns(made):
        return None
    uses = [module.parents.get(n) for n in names_loaded(walk(function), name)]
    calls = any(isinstance(use, ast.Call) for use in uses)
    is_written = any(isinstance(use, ast.Attribute) for use in uses)
    return spelled(made.func) if made is not None and calls and not is_written else None


def local_layer(node: ast.AST, module: Module) -> str | None:
    """Match `self_layer = nn.Linear(4, 4)` in `__init__`: a local name that the constructor does
    not use, and another method does.
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made):
            constructor, owner = module.scope_of(node), module.class_of(node)
        case _:
            return None
    if owner is None or getattr(constructor, "name", "") != "__init__":
        return None
    scopes = [module.scope_of(n) for n in names_loaded(walk(owner), name)]
    lost = bool(scopes) and all(scope is not constructor for scope in scopes)
    return name if lost and creates_module(made) is not False else None


def _made(value: ast.expr) -> ast.Call | None:
    """Return the call that makes what an expression moves: `Linear(4, 4)` of
    `Linear(4, 4).cuda()`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if not isinstance(value.func.value, ast.Call):
            break
        value = value.func.value
    return value if isinstance(value, ast.Call) else None


def _learns(made: ast.Call | None) -> bool:
    """Return True if a call may make a layer with weights: not an activation or a loss."""
    name = last_name(made.func) if made is not None else ""
    if made is None or not name[:1].isupper() or not (made.args or made.keywords):
        return False
    weightless = name in _WITHOUT_WEIGHTS or name.endswith("Loss")
    return creates_module(made) is not False and not weightless


def _handed_on(name: str, made: ast.Assign, owner: ast.ClassDef) -> bool:
    """Return True if a class makes an attribute of a list: `self.net = Sequential(*self.layers)`"""
    others = (n for n in nodes_of(owner, ast.Assign) if n is not made)
    attributes = (n for n in others if spelled(n.targets[0]).startswith("self."))
    return any(_makes_layers(n.value) and mentions(n.value, name) for n in attributes)


def _is_plain(value: ast.expr) -> bool:
    kinds = ast.List | ast.ListComp | ast.Tuple | ast.Dict | ast.DictComp
    return isinstance(value, kinds)


def _put_into(target: ast.expr, owner: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield what a class puts into a container: `self.layers.append(…)`, `self.at[k] = …`."""
    name = spelled(target)
    for node in walk(owner):
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr="append" | "extend"), args=[given]):
                if spelled(held) == name:
                    yield given
            case ast.Assign(targets=[ast.Subscript(value=held)], value=given):
                if spelled(held) == name:
                    yield given


def _makes_layers(value: ast.expr) -> bool:
    """Return True if a part of an expression is made by a class that may be one of modules:
    `nn.Linear(4, 2)`, `Block(8)`; not by one that is known to be another: `Value(0.5)`.
    """
    called = nodes_of(value, ast.Call)
    return any(creates_module(call) is not False for call in called)
