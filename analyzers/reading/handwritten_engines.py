"""Hand-written autograd engines: classes that run backward over graphs of their own instances."""

from __future__ import annotations

import ast

from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.value_graphs import parts
from analyzers.reading.values import AbstractValue, Class, FunctionValue, Instance
from analyzers.source.trees import nodes_of, walk


def backward_method(cls: Class) -> str:
    """Return the method by which the class runs backward over its instances and refuses a second
    run.

    Return '' if it is no engine. An engine computes with operators or makes instances of itself,
    derives from nothing outside the script, and raises (or asserts) somewhere in its `backward`;
    or, if it has none, in the method that gives other instances their gradients.
    """
    if any(path not in ("builtins.object", "object") for path in cls.library_bases()):
        return ""
    if not any(
        _makes(node.func, cls.name)
        for owner in cls.lineage()
        for node in nodes_of(owner.definition, ast.Call)
    ):
        return ""
    if (backward := cls.lookup("backward")) is not None:
        return "backward" if _refuses(backward) else ""
    for owner in cls.lineage():
        for statement in owner.definition.body:
            if isinstance(statement, ast.FunctionDef) and _feeds_others(statement):
                if _refuses(cls.lookup(statement.name)):
                    return statement.name
    return ""


def _refuses(method: AbstractValue | None) -> bool:
    return isinstance(method, FunctionValue) and any(
        isinstance(node, ast.Raise | ast.Assert) for node in walk(method.definition)
    )


def _feeds_others(method: ast.FunctionDef) -> bool:
    """Return True if a method adds to, or sets, the gradient of another object."""
    own = method.args.args[0].arg if method.args.args else ""
    return not method.name.startswith("__") and any(
        isinstance(node.ctx, ast.Store)
        and "grad" in node.attr
        and isinstance(node.value, ast.Name)
        and node.value.id != own
        for node in nodes_of(method, ast.Attribute)
    )


def _makes(func: ast.expr, name: str) -> bool:
    match func:
        case ast.Name(id=called):
            return called == name
        case ast.Attribute(attr="__class__"):
            return True
        case ast.Call(func=ast.Name(id="type")):
            return True
    return False


def engine_nodes(values: list[AbstractValue]) -> tuple[TapeNode, ...]:
    """Return the graphs of engine instances among the values."""
    return tuple(
        dict.fromkeys(
            part.node
            for value in values
            for part in parts(value)
            if isinstance(part, Instance) and part.node is not None
        )
    )


def created(
    machine: Machine, instance: Instance, args: list[AbstractValue], frame: InterpreterFrame
) -> None:
    """Give a new engine instance its node: instances among the arguments are its parents."""
    parents = engine_nodes(args)
    node = machine.tape.node(instance.cls.name, frame.place(), parents, bool(parents))
    node.engine = instance.cls.name
    node.strong = True
    node.leaf = not parents
    instance.node = node  # type: ignore[misc]


def attribute_set(owner: Instance, name: str, value: AbstractValue) -> None:
    """Record parents that are attached after creation."""
    node = owner.node
    if node is None or name == "grad":
        return
    added = tuple(p for p in engine_nodes([value]) if p is not node and p not in node.parents)
    if added:
        node.parents = (*node.parents, *added)
        node.saves = True
        node.leaf = False
