"""What the parts of a fragment that were not sent must have been, given how it uses them.

Only for errors that are known to have happened: a guess explains, it proves nothing.
"""

from __future__ import annotations

import ast

from analyzers import ops
from analyzers.reading import inplace, operators
from analyzers.reading.frames import Frame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.values import Tensor, Unknown, Value
from analyzers.source import Project
from analyzers.trees import walk

# Errors that speak of tensors' memory or of lost graphs want tensors for what calls return.
_OF_TENSORS = ("inplace", "no-grad")


def leaf_names(project: Project) -> frozenset[str]:
    """Names whose `.grad` is used and that nothing in the project makes: leaves."""
    found = set[str]()
    bound = set[str]()
    for module in project.modules.values():
        for node in walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                if isinstance(node.value, ast.Name):
                    found.add(node.value.id)
            elif isinstance(node, ast.Assign):
                bound |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                bound.add(node.target.id)
    return frozenset(found - bound)


def name(machine: Machine, name: str, frame: Frame) -> Value:
    """What a name stands for that nothing binds."""
    if machine.suspecting in _OF_TENSORS and name in machine.leaf_names:
        leaf = leaf_tensor(machine, frame)
        machine.bind(frame, name, leaf)
        return leaf
    return Unknown(name)


def called(machine: Machine, callee: Unknown, args: list[Value], frame: Frame) -> Tensor | None:
    """The tensor that a call gives: of an operation by its own rules, of a loss without a graph
    none, else of a model with parameters of its own. None where no tensor is guessed."""
    if machine.suspecting not in _OF_TENSORS or not callee.origin:
        return None
    if callee.origin == "step":
        _step(machine, frame)
        return None
    if _constructs(callee.origin):
        return None
    parents = operators.graphs(args)
    if ops.op(callee.origin) is not ops.UNKNOWN:
        made = operators.operate(machine, callee.origin, args, frame)
        return made if isinstance(made, Tensor) else None
    lost = operators.first_lost(args)
    if lost is not None and not parents and len(args) > 1:  # two are compared: no model
        return Tensor(lost=lost)
    own = callee.attrs.get("<leaf>")
    if not isinstance(own, Tensor):
        own = callee.attrs["<leaf>"] = leaf_tensor(machine, frame)
        assert own.node is not None
        own.node.op = callee.origin
        machine.guessed[own.node] = own.storage
    assert own.node is not None
    result = machine.tensor(callee.origin, (*parents, own.node), frame, saves=True)
    if result.node is not None:
        result.node.saved.append((own.storage, own.storage.version))
    return result


def _constructs(origin: str) -> bool:
    """Whether a name is written like a class's; `G`, `D` and `netD` are models."""
    return origin[:1].isupper() and len(origin) > 2


def _step(machine: Machine, frame: Frame) -> None:
    """An optimizer that was not sent changes what the last walk reached."""
    last = machine.tape.walks[-1:]
    for leaf in last[0].leaves if last else ():
        storage = machine.guessed.get(leaf)
        if storage is not None:
            inplace.bump(storage, frame, "step")
