"""Trainers that call backward on the loss which a method of the script returns."""

from __future__ import annotations

import ast

from analyzers.reading import backward_calls, classes
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.values import (
    AbstractValue,
    Class,
    Const,
    FunctionValue,
    Instance,
    Mapping,
    Sequence,
)
from analyzers.source import trees
from provenance import CodeLine

# The method that returns the loss, and the name of the base class that calls backward on it.
TRAINERS = {"training_step": "LightningModule", "compute_loss": "Trainer"}
STEPS = 3


def train(machine: Machine, cls: Class, frame: InterpreterFrame) -> None:
    """Execute a few steps of training as the class's trainer would."""
    for name, base in TRAINERS.items():
        method = cls.attrs.get(name)
        trained = any(path.rpartition(".")[2].endswith(base) for path in cls.library_bases())
        if not isinstance(method, FunctionValue) or not trained:
            continue
        instance = classes.instantiate(machine, cls, [], {}, frame)
        if not isinstance(instance, Instance) or _runs_backward_itself(instance):
            continue
        for _ in range(STEPS):
            run_returned(machine, method, machine.call(method, [instance], {}, frame))


def run_returned(machine: Machine, method: FunctionValue, returned: AbstractValue) -> None:
    """Call backward on the loss that a training step returns, as its trainer does.

    Other methods are ignored. If an in-place change is to be explained, the caller is taken to run
    backward on whatever is returned; and on the result of `forward` if no backward call was sent.
    """
    elsewhere = method.name == "forward" and not _runs_backward_anywhere(machine)
    if method.name in TRAINERS or machine.suspecting == "inplace" or elsewhere:
        loss = _loss(returned)
        if loss is not None:
            run_backward(machine, loss, _place_of_return(method))


def _runs_backward_anywhere(machine: Machine) -> bool:
    return any("backward" in text for text in machine.project.files.values())


def _runs_backward_itself(instance: Instance) -> bool:
    """Return True under manual optimisation: the script calls `manual_backward`."""
    flag = instance.attrs.get("automatic_optimization")
    return isinstance(flag, Const) and not flag.value


def _loss(returned: AbstractValue) -> AbstractValue | None:
    """Return the loss in the returned value: itself, under its name, or first of a tuple."""
    if isinstance(returned, Mapping):
        return returned.items.get("loss")
    if isinstance(returned, Sequence):
        return returned.items[0] if returned.items else None
    return returned


def _place_of_return(method: FunctionValue) -> CodeLine:
    returns = [n.lineno for n in trees.walk(method.definition) if isinstance(n, ast.Return)]
    line = max(returns, default=method.definition.lineno)
    return CodeLine(method.frame.file, line, method.qualified)


def run_backward(machine: Machine, loss: AbstractValue, place: CodeLine) -> None:
    """Run the trainer's backward call, located at the line that returned the loss."""
    node = loss.node
    if node is None:
        return
    machine.backward_places[place] = None
    backward_call = machine.tape.backward_call(
        (place,), backward_calls.names_of((node,)), library=("trainer",)
    )
    backward_calls.run(machine, (node,), backward_call)
