"""Calls of things not seen: the result may carry the graph of what went in."""

from __future__ import annotations

from analyzers.reading import guesses, value_graphs
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.torch_values import Layer, OptimizerValue, ParametersValue
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Bound,
    FunctionValue,
    Instance,
    Unknown,
)
from analyzers.source import ops, priors

# Methods that take something in and hand back nothing that a gradient flows through.
_SINKS = ops.words(
    """
    step push append add log log_metrics update render reset save write info debug
    warning record store store_transition add_scalar add_image set_description
    set_postfix print dump observe
    """
)


# Draws through which no gradient flows.
_SAMPLES = frozenset({"sample", "sample_n", "choice", "choices", "shuffle"})


def call_unknown(
    machine: Machine,
    callee: Unknown,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a call of which only the arguments are known.

    Callbacks of the script among the arguments are taken to be called once.
    """
    values = [*args, *kwargs.values()]
    if any(
        isinstance(value, Layer | OptimizerValue | ParametersValue | Instance) for value in values
    ):
        machine.gradients.zeroed(None)  # for all we know
    ends = callee.origin in _SINKS | _SAMPLES or priors.is_cutting(callee.origin)
    guessed = guesses.called(machine, callee, values, frame) if machine.suspecting else None
    if guessed is not None and not ends:
        return guessed
    if machine.suspecting:
        guesses.closure(machine, callee, args, frame)
    for value in values:
        if isinstance(value, FunctionValue | Bound):
            _try_callback(machine, value, frame)
    parents, ended = value_graphs.origins(values)
    if ends:
        machine.unfollowed.update(parents)
        cut = (callee.node,) if callee.node is not None else ()
        return Unknown(data=True, lost=Lost(callee.origin, frame.place(), cut) if cut else None)
    if callee.node is not None:
        parents = (callee.node, *parents)
    elif callee.lost is not None:
        ended = (callee.lost, *ended)
    certain = machine.suspecting or any(parent.strong for parent in parents)
    model = machine.suspecting and not guesses.constructs(callee.origin)
    if callee.origin[:1].isupper() and not (parents and certain) and not model:
        made = Unknown(callee.origin, lost=value_graphs.joined(ended))
        made.built = True
        return made
    leaf = _own_parameters(machine, callee, frame)
    if leaf is not None and leaf.node is not None and leaf.node.trainable:
        parents = (*parents, leaf.node)
    if not machine.grad:
        lost = Lost("no_grad", frame.place(), parents, ended, frame.stack())
        return Unknown(callee.origin, data=True, lost=lost)
    node = machine.tape.node(callee.origin or "call", frame.place(), parents)
    node.ended = ended
    if leaf is not None:
        node.saved.append((leaf.storage, leaf.storage.version))
    made = Unknown(callee.origin, node)
    if callee.origin[:1].isupper():
        made.given = [value for value in values if isinstance(value, AbstractTensor)]
    return made


def _own_parameters(
    machine: Machine, callee: Unknown, frame: InterpreterFrame
) -> AbstractTensor | None:
    """Return the parameters of a callee that the script treats as a model elsewhere, or None."""
    if callee.origin not in machine.model_names:
        return None
    leaf = callee.attrs.get("<leaf>")
    if not isinstance(leaf, AbstractTensor):
        leaf = callee.attrs["<leaf>"] = leaf_tensor(machine, frame)
        assert leaf.node is not None
        leaf.node.op = callee.origin
    return leaf


def _try_callback(machine: Machine, value: AbstractValue, frame: InterpreterFrame) -> None:
    """Enter a callback once; what it returns is not known to be used."""
    function = value.function if isinstance(value, Bound) else value
    if isinstance(function, FunctionValue) and id(function.definition) not in machine.entered:
        machine.call(value, [], {}, frame)
