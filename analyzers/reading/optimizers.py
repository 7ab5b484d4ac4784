"""Optimizers: which parameters they change, and closures that they call."""

from __future__ import annotations

from functools import partial

from analyzers.reading import backward_calls, hooks, silent_faults
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.inplace_writes import bump
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaves
from analyzers.reading.torch_values import OptimizerValue, ParametersValue
from analyzers.reading.values import AbstractTensor, AbstractValue, Mapping, Sequence, Unknown


def make(
    machine: Machine,
    kind: str,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> OptimizerValue:
    """Return `torch.optim.<kind>(params, ...)`."""
    params = args[0] if args else kwargs.get("params", Unknown())
    if isinstance(params, Sequence):
        params = Sequence([_group(item) for item in params.items])
    for item in params.items if isinstance(params, Sequence) else []:
        if isinstance(item, AbstractTensor) and item.node is not None and not item.node.leaf:
            backward_calls.refused(
                machine, item, "nonleaf", "can't optimize a non-leaf Tensor", frame
            )
    optimizer = OptimizerValue(params, kind)
    machine.optimizers.append((optimizer, frame))
    return optimizer


def _group(item: AbstractValue) -> AbstractValue:
    if isinstance(item, Mapping):
        return item.items.get("params", item)
    return item


def method(
    machine: Machine,
    optimizer: OptimizerValue,
    name: str,
    args: list[AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a method call on an optimizer."""
    if name == "step":
        return hooks.around(
            machine, optimizer, args, frame, partial(step, machine, optimizer, args, frame)
        )
    if name in hooks.REGISTERED and args:
        hooks.register(optimizer, name, args[0])
    if name == "zero_grad":
        machine.zeroings += 1
        machine.gradients.zeroed(args[0] if args else None)
    return Unknown(data=True)


def step(
    machine: Machine, optimizer: OptimizerValue, args: list[AbstractValue], frame: InterpreterFrame
) -> AbstractValue:
    """Change the parameters, after calling the closure where one is given."""
    result: AbstractValue = Unknown(data=True)
    if args:
        machine.library.append(f"torch/optim/{optimizer.kind.lower()}.py")
        for _ in range(3 if optimizer.kind == "LBFGS" else 1):
            result = machine.call(args[0], [], {}, frame)
        machine.library.pop()
    optimizer.steps += 1
    for leaf in leaves(ParametersValue(optimizer.params)):
        bump(leaf.storage, frame, "step")
    silent_faults.after_step(machine, optimizer, frame)
    return result
