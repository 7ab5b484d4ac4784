"""Methods of tensors, modules, optimizers, and of unknown values that may be any of them."""

from __future__ import annotations

from analyzers.reading import (
    backward_calls,
    classes,
    gradients,
    hooks,
    inplace_writes,
    operators,
    optimizers,
    shapes,
    unknowns,
)
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor, leaves
from analyzers.reading.submodules import LISTED, modules_in
from analyzers.reading.tensor_results import end, lost_at, reduced, shaped
from analyzers.reading.torch_values import (
    GradientValue,
    Layer,
    OptimizerValue,
    ParametersValue,
    StreamValue,
)
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Class,
    Const,
    Instance,
    Mapping,
    Unknown,
)
from analyzers.source import ops

_TO_PYTHON = frozenset({"item", "numpy", "tolist", "__float__", "__int__"})
NUMPY = "Can't call numpy() on Tensor that requires grad."
FLAGS = "you can only change requires_grad flags of leaf variables."
_SAME = frozenset({"to", "cuda", "cpu", "xpu", "train", "eval", "share_memory", "pin_memory",
                   "type", "contiguous"})  # fmt: skip
_IDENTITIES = _SAME | {"float", "double", "half", "bfloat16"}
MODULE_METHODS = ops.words(
    """
    parameters named_parameters buffers
    train eval to cuda cpu float double half zero_grad state_dict load_state_dict
    register_buffer register_parameter add_module requires_grad_ apply
    save_hyperparameters optimizers manual_backward toggle_optimizer untoggle_optimizer
    log log_dict backward
    """
) | frozenset([*hooks.REGISTERED, *LISTED])
TENSOR_METHODS = (
    MODULE_METHODS
    | _TO_PYTHON
    | ops.NO_GRAPH
    | _SAME
    | ops.words(
        """
    backward detach detach_ clone requires_grad_ zero_grad retain_grad register_hook
    """
    )
)


def method(
    machine: Machine,
    receiver: AbstractValue,
    name: str,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a method call on one of the library's values."""
    if isinstance(receiver, OptimizerValue):
        return optimizers.method(machine, receiver, name, args or list(kwargs.values()), frame)
    if name == "backward":
        return _backward(machine, receiver, args, kwargs, frame)
    if isinstance(receiver, Class):
        return operators.operate(machine, "Function", args, frame)
    if isinstance(receiver, GradientValue):
        return _gradient_method(machine, receiver, name, args, frame)
    if isinstance(receiver, AbstractTensor):
        return tensor_method(machine, receiver, name, args, kwargs, frame)
    if isinstance(receiver, Const):
        return Const("") if name in ("format", "join") else Unknown(data=True)
    if isinstance(receiver, StreamValue):
        return Unknown()
    return _of_module(machine, receiver, name, args, kwargs, frame)


def _backward(
    machine: Machine,
    receiver: AbstractValue,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Execute `loss.backward()`, or `something.backward(loss)`."""
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    options = dict(zip(names, args, strict=False)) | kwargs
    tensor = isinstance(receiver, AbstractTensor) or receiver.node is not None
    helper = not tensor and args and (args[0].node is not None or not isinstance(receiver, Unknown))
    if helper:
        backward_calls.backward(machine, args[:1], kwargs, frame)
    elif not isinstance(receiver, Const):
        given = options.get("gradient", NONE)
        explicit = not (isinstance(given, Const) and given.value is None)
        backward_calls.backward(machine, [receiver], options, frame, explicit=explicit)
    return NONE


def _gradient_method(
    machine: Machine,
    receiver: GradientValue,
    name: str,
    args: list[AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    if name in ("zero_", "detach_"):
        machine.zeroings += 1
        return receiver
    if name in gradients.SHARING:
        return receiver
    made = operators.of_gradients(machine, [receiver, *args], frame)
    if name in _TO_PYTHON or name in ops.REDUCTIONS:
        return AbstractTensor()
    return receiver if name.endswith("_") else made


def tensor_method(
    machine: Machine,
    tensor: AbstractTensor,
    name: str,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a tensor's method."""
    if name in _TO_PYTHON or name in ("detach", "detach_"):
        return _cut(machine, tensor, name, frame)
    if name == "requires_grad_":
        return _require(machine, tensor, args, frame)
    if name == "retain_grad":
        tensor.keeps_grad = True
        return NONE
    if name in _IDENTITIES and tensor.node is not None and tensor.node.leaf:
        if machine.suspecting != "no-grad" or name not in ("to", "cuda"):
            return tensor
    if name in ops.NO_GRAPH or name in ("size", "storage", "register_hook"):
        lost = lost_at(tensor, name, frame)
        if name in ops.INDICES or name == "sign":
            return AbstractTensor(lost=lost)
        made = name.startswith("new_") or name.endswith("_like")
        return AbstractTensor() if made else Unknown(data=True)
    if name.endswith("_") and not name.endswith("__"):
        return inplace_writes.write(machine, tensor, name, [*args, *kwargs.values()], frame)
    scalar = reduced(name, args, kwargs, tensor)
    values = [tensor, *args, *kwargs.values()]
    shape = shapes.reduced(name, tensor, args, kwargs)
    result = operators.operate(machine, name, values, frame, scalar, shape)
    return shaped(machine, name, result, args, kwargs, frame)


def _cut(
    machine: Machine, tensor: AbstractTensor, name: str, frame: InterpreterFrame
) -> AbstractValue:
    """Return a tensor without graph, as `detach` and its like do."""
    lost = lost_at(tensor, name, frame)
    if name == "numpy" and tensor.node is not None and tensor.node.strong:
        backward_calls.refused(machine, tensor, "numpy", NUMPY, frame)
    if name == "detach_":
        end(tensor, lost)
        return tensor
    storage = tensor.storage if name == "detach" else None
    cut = AbstractTensor(storage=storage, scalar=tensor.scalar, lost=lost)
    cut.shape = tensor.shape
    return cut


def _require(
    machine: Machine, tensor: AbstractTensor, args: list[AbstractValue], frame: InterpreterFrame
) -> AbstractValue:
    wanted = not (args and isinstance(args[0], Const) and not args[0].value)
    if tensor.node is None and wanted and machine.grad:
        tensor.node = machine.leaf_node(frame, tensor.lost)  # type: ignore[misc]
        tensor.storage.leaf = tensor.node
    elif tensor.node is not None and tensor.node.leaf:
        tensor.node.trainable = wanted
    elif tensor.node is not None and tensor.node.strong and not wanted:
        backward_calls.refused(machine, tensor, "nonleaf", FLAGS, frame)
    return tensor


def _of_module(
    machine: Machine,
    receiver: AbstractValue,
    name: str,
    args: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return the result of a method of a module or of something unknown."""
    if name in ("parameters", "named_parameters", "buffers"):
        return ParametersValue(receiver, named=name == "named_parameters")
    if name in LISTED and (found := modules_in(receiver, name)) is not None:
        return found
    if name in _IDENTITIES:
        if isinstance(receiver, Unknown) and receiver.node is not None:
            return Unknown(receiver.origin, receiver.node)
        return receiver
    if name == "requires_grad_":
        return _training(receiver, args)
    if name == "zero_grad":
        machine.zeroings += 1
        machine.gradients.zeroed(args[0] if args else kwargs.get("set_to_none"))
        return NONE
    if name in hooks.REGISTERED and args:
        hooks.register(receiver, name, args[0])
        return Unknown(data=True)
    if name == "manual_backward" and args:
        backward_calls.backward(machine, args[:1], kwargs, frame)
        return NONE
    if name == "__init__" and isinstance(receiver, Instance) and classes.is_chain(receiver.cls):
        return _hold(receiver, args)
    if name in ("register_buffer", "register_parameter", "add_module") and len(args) > 1:
        return _register(receiver, args)
    if name == "detach_" and isinstance(receiver, Unknown):
        end(receiver, _of_unknown(machine, receiver, "detach", frame).lost)
        return receiver
    if name in ("detach", "clone"):
        return _of_unknown(machine, receiver, name, frame)
    if name.startswith("new_") or name.endswith("_like"):
        return AbstractTensor()
    if name in _TO_PYTHON:
        cut = (receiver.node,) if receiver.node is not None else ()
        lost = Lost(name, frame.place(), cut) if cut else receiver.lost
        return Unknown(data=True, lost=lost)
    if name in ops.NO_GRAPH or name in MODULE_METHODS:
        return Unknown(data=True)
    if name == "forward" and isinstance(receiver, Layer | Instance):
        return machine.call(receiver, args, kwargs, frame)
    callee = Unknown(name, receiver.node, lost=receiver.lost)
    return unknowns.call_unknown(machine, callee, args, kwargs, frame)


def _training(module: AbstractValue, args: list[AbstractValue]) -> AbstractValue:
    """Return the module, its parameters set to learn or not."""
    wanted = not (args and isinstance(args[0], Const) and not args[0].value)
    for leaf in leaves(ParametersValue(module)):
        if leaf.node is not None:
            leaf.node.trainable = wanted
    return module


def _of_unknown(
    machine: Machine, receiver: AbstractValue, name: str, frame: InterpreterFrame
) -> AbstractValue:
    if name == "detach":
        node = receiver.node
        return AbstractTensor(
            lost=Lost("detach", frame.place(), (node,)) if node else receiver.lost
        )
    if isinstance(receiver, Unknown) and receiver.origin in machine.cloned_learners:
        clone = operators.operate(machine, name, [leaf_tensor(machine, frame)], frame)
        return Unknown(receiver.origin, clone.node)
    if receiver.node is None:
        return Unknown(data=isinstance(receiver, Unknown) and receiver.data, lost=receiver.lost)
    return operators.operate(machine, name, [receiver], frame)


def _hold(chain: Instance, args: list[AbstractValue]) -> AbstractValue:
    """Add what `nn.Sequential` is given, by position or by name."""
    named = args[0].items if args and isinstance(args[0], Mapping) else dict(enumerate(args))
    chain.attrs |= {str(name): part for name, part in named.items()}
    return NONE


def _register(receiver: AbstractValue, args: list[AbstractValue]) -> AbstractValue:
    attrs = getattr(receiver, "attrs", None)
    name = args[0].value if isinstance(args[0], Const) else None
    if isinstance(attrs, dict) and isinstance(name, str):
        attrs[name] = args[1]
    return NONE
