"""What the parts of a fragment that were not sent must have been, given how it uses them.

Only for errors that are known to have happened: a guess explains, it proves nothing.
"""

from __future__ import annotations

import ast

from analyzers.reading import inplace_writes, operators, value_graphs
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Bound,
    FunctionValue,
    Unknown,
)
from analyzers.source import ops
from analyzers.source.flow import names_read
from analyzers.source.project import Project
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of, walk

# Errors that speak of tensors' memory or of lost graphs want tensors for what calls return.
_OF_TENSORS = ("inplace", "no-grad")
_CLOSURE_CALLS = 3
# What memories, models and optimizers are asked for, and no tensor has.
_OF_OBJECTS = frozenset({"sample", "push", "step", "parameters", "named_parameters", "state_dict"})


def leaf_names(project: Project) -> frozenset[str]:
    """Return names whose `.grad` is used and that only rebindings of themselves define: leaves.

    For example `w = w - lr * w.grad`.
    """
    used, made = set[str](), set[str]()
    for module in project.parsed.values():
        for node in walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                used |= {node.value.id} if isinstance(node.value, ast.Name) else set()
            elif isinstance(node, ast.Assign):
                made |= set(assigned(node)) - names_read(node.value)
            elif isinstance(node, ast.For):
                made |= {n.id for n in nodes_of(node.target, ast.Name)}
    return frozenset(used - made)


def name(machine: Machine, name: str, frame: InterpreterFrame) -> AbstractValue:
    """Return what an unbound name denotes."""
    if machine.suspecting in _OF_TENSORS and name in machine.leaf_names:
        leaf = leaf_tensor(machine, frame)
        machine.bind(frame, name, leaf)
        return leaf
    return Unknown(name)


def argument(
    machine: Machine, function: FunctionValue, name: str, frame: InterpreterFrame
) -> AbstractValue:
    """Return the argument of a function that nothing calls.

    If memory is at issue it is an activation, unless it is used in ways that a tensor does not
    support.
    """
    if machine.suspecting != "inplace" or name == "self" or _is_object(function, name):
        return Unknown(name)
    leaf = leaf_tensor(machine, frame).node
    assert leaf is not None
    return machine.tensor(name, (leaf,), frame)


def _is_object(function: FunctionValue, name: str) -> bool:
    return any(
        node.attr in _OF_OBJECTS and isinstance(node.value, ast.Name) and node.value.id == name
        for node in nodes_of(function.definition, ast.Attribute)
    )


def called(
    machine: Machine, callee: Unknown, args: list[AbstractValue], frame: InterpreterFrame
) -> AbstractTensor | None:
    """Return the tensor that a call is guessed to give, or None.

    An operation has its own rules, a loss without a graph gives none, other callees are models with
    parameters of their own.
    """
    if machine.suspecting not in _OF_TENSORS or not callee.origin:
        return None
    if callee.origin == "step":
        _step(machine, frame)
        return None
    if constructs(callee.origin):
        return None
    if callee.node is not None:  # a method, of something that carries a graph
        args = [AbstractTensor(callee.node), *args]
    if not args:
        return None
    parents = value_graphs.graphs(args)
    if ops.op(callee.origin) is not ops.UNKNOWN:
        made = operators.operate(machine, callee.origin, args, frame)
        return made if isinstance(made, AbstractTensor) else None
    if any(parent.leaf for parent in parents):
        callee.attrs["<function>"] = NONE  # of parameters that it is given
    plain = "<function>" in callee.attrs
    lost = value_graphs.lost_by(args)
    if lost is not None and not parents and (plain or len(args) > 1):  # two are compared
        return AbstractTensor(lost=lost)
    if plain:
        return machine.tensor(callee.origin, parents, frame, saves=True)
    own = callee.attrs.get("<leaf>")
    if not isinstance(own, AbstractTensor):
        own = callee.attrs["<leaf>"] = leaf_tensor(machine, frame)
        assert own.node is not None
        own.node.op = callee.origin
        machine.guessed[own.node] = own.storage
    assert own.node is not None
    result = machine.tensor(callee.origin, (*parents, own.node), frame, saves=True)
    if result.node is not None:
        result.node.saved.append((own.storage, own.storage.version))
    return result


def loss(machine: Machine, origin: str, frame: InterpreterFrame) -> TapeNode | None:
    """Return the graph of a loss that the fragment does not define, or None.

    The loss is taken to come from the same model as its neighbours, made before, with that model's
    weights saved as they were then.
    """
    if machine.suspecting not in ("graph-reuse", "inplace"):
        return None
    model = machine.unseen.get(frame)
    if model is None:
        leaf = leaf_tensor(machine, frame)
        assert leaf.node is not None
        leaf.node.op = "model"
        machine.guessed[leaf.node] = leaf.storage
        model = machine.unseen[frame] = machine.tape.node(
            "model", frame.place(), (leaf.node,), True
        )
        model.saved.append((leaf.storage, leaf.storage.version))
    return machine.tape.node(origin or "unknown", frame.place(), (model,))


def constructs(origin: str) -> bool:
    """Return True if a name is spelled like a class; `G`, `D` and `netD` are models."""
    return origin[:1].isupper() and len(origin) > 2


def closure(
    machine: Machine, callee: Unknown, args: list[AbstractValue], frame: InterpreterFrame
) -> None:
    """Call the closure that is passed to `step` of an unknown optimizer, several times."""
    if callee.origin == "step" and args and isinstance(args[0], FunctionValue | Bound):
        machine.library.append("torch/optim/lbfgs.py")
        for _ in range(_CLOSURE_CALLS):
            machine.call(args[0], [], {}, frame)
        machine.library.pop()


def _step(machine: Machine, frame: InterpreterFrame) -> None:
    """Record that an unknown optimizer changes what the last backward call reached."""
    last = machine.tape.calls[-1:]
    for leaf in last[0].leaves if last else ():
        storage = machine.guessed.get(leaf)
        if storage is not None:
            inplace_writes.bump(storage, frame, "step")
