"""Calls of imported functions and of Python's own."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.reading import (
    backward_calls,
    inplace_writes,
    modules,
    operators,
    optimizers,
    python_calls,
    python_library,
    shapes,
    tensor_results,
    tensors,
    value_graphs,
)
from analyzers.reading.containers import listed
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaf_tensor
from analyzers.reading.torch_values import Context, StreamValue
from analyzers.reading.unknowns import call_unknown
from analyzers.reading.values import (
    NONE,
    AbstractTensor,
    AbstractValue,
    Const,
    FunctionValue,
    Instance,
    Library,
    Sequence,
    Unknown,
)
from analyzers.source import ops

Args = list[AbstractValue]
Kwargs = dict[str, AbstractValue]

_SWITCHES = {
    "no_grad": False,
    "inference_mode": False,
    "enable_grad": True,
    "set_grad_enabled": None,
    "set_detect_anomaly": None,
    "detect_anomaly": None,
    "autocast": None,
}
# Those that copy the values of what they are given.
_COPYING = ops.words(
    "tensor as_tensor from_numpy Tensor FloatTensor DoubleTensor scalar_tensor Variable"
)
# NumPy's functions that make an array of a tensor first, rather than call a method of it.
_CONVERTING = ops.words(
    """
    array asarray ascontiguousarray maximum minimum sqrt exp log log10 log2 tanh sin cos
    concatenate stack vstack hstack
    """
)


def call(
    machine: Machine, function: Library, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Return the result of a library function."""
    path = function.path
    root = path.partition(".")[0]
    last = path.rpartition(".")[2]
    if root == "builtins":
        return python_calls.call(machine, last, args, kwargs, frame)
    if root in ("torch", "torchvision") or "torch" in root:
        return _torch(machine, path, last, args, kwargs, frame)
    if path in ("random.sample", "random.choices", "random.choice") and args:
        return _drawn(machine, last, args[0], frame)
    if root == "numpy":
        return _numpy(machine, last, args, frame)
    if root in ("math", "random", "time", "os", "json", "pandas", "logging"):
        return _no_graph(args, frame)
    modelled = python_library.MODELLED.get(path)
    if modelled is not None:
        return modelled(machine, args, kwargs, frame)
    if "optim" in path and last[:1].isupper() and "scheduler" not in path:
        return optimizers.make(machine, last, args, kwargs, frame)
    return call_unknown(machine, Unknown(last), args, kwargs, frame)


def _loader(machine: Machine, dataset: AbstractValue, frame: InterpreterFrame) -> AbstractValue:
    """Return batches of what is known of the data; of anything else, plain data."""
    if not value_graphs.graphs([_sample(machine, dataset, frame)]):
        return Unknown("DataLoader", data=True)

    def batches() -> Iterator[AbstractValue]:
        while True:
            sample = _sample(machine, dataset, frame)
            if isinstance(sample, Sequence):
                parts = [operators.operate(machine, "stack", [v], frame) for v in sample.items]
                yield Sequence(list(parts), "tuple")
            else:
                yield operators.operate(machine, "stack", [sample], frame)

    return StreamValue(batches)


def _sample(machine: Machine, dataset: AbstractValue, frame: InterpreterFrame) -> AbstractValue:
    """Return one sample of a data set that the script defines."""
    if isinstance(dataset, Sequence) and dataset.items:
        return dataset.items[-1]
    if isinstance(dataset, Instance):
        return machine.invoke(dataset, "__getitem__", [Unknown(data=True)], frame)
    return NONE


def _drawn(
    machine: Machine, name: str, source: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return a random draw from a container: any of its items."""
    items = listed(machine, source, frame)
    if name == "choice":
        return items[0] if items else Unknown()
    return Sequence(items[:4], "list", open_=True)


def _numpy(machine: Machine, name: str, args: Args, frame: InterpreterFrame) -> AbstractValue:
    """Return the result of a NumPy function; some convert their arguments, which a graph
    forbids."""
    if name in _CONVERTING:
        for part in (part for value in args for part in value_graphs.parts(value, 1)):
            if isinstance(part, AbstractTensor) and part.node is not None and part.node.strong:
                backward_calls.refused(machine, part, "numpy", tensors.NUMPY, frame)
                break
    return _no_graph(args, frame)


def _no_graph(args: Args, frame: InterpreterFrame) -> AbstractValue:
    graphs, ended = value_graphs.origins(args)
    if graphs:
        return AbstractTensor(lost=Lost("numpy", frame.place(), graphs, ended))
    return Unknown(data=True, lost=value_graphs.joined(ended))


def _torch(
    machine: Machine, path: str, last: str, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Return the result of a torch function."""
    if last in _SWITCHES:
        return _switch(last, args, kwargs)
    if ".optim." in path and last[:1].isupper():
        if "lr_scheduler" in path:
            return Unknown(last, data=True)
        return optimizers.make(machine, last, args, kwargs, frame)
    if path.endswith(("autograd.grad", "autograd.backward")):
        return _backward(machine, last, args, kwargs, frame)
    if ".init." in path and args:
        return args[0]  # initialisers write with recording off
    if last in ops.FACTORIES:
        return _make(machine, last, args, kwargs, frame)
    if ".nn." in path and last[:1].isupper() and ".functional" not in path:
        return modules.make(machine, last, args, kwargs, frame)
    if last in ("checkpoint", "checkpoint_sequential") and args:
        return machine.call(args[0], args[1:], {}, frame)
    if last in ("compile", "jit", "script", "trace", "DistributedDataParallel") and args:
        return args[0]
    if last == "TensorDataset":
        return Sequence([Sequence(list(args), "tuple")], "dataset", open_=True)
    if last == "DataLoader":
        return _loader(machine, args[0] if args else kwargs.get("dataset", NONE), frame)
    if last in ops.NO_GRAPH or path.startswith(("torch.cuda", "torch.utils", "torch.manual")):
        if last in ops.INDICES and (graphs := value_graphs.graphs(args)):
            return AbstractTensor(lost=Lost(last, frame.place(), graphs))
        return Unknown(data=True)
    if last[:1].isupper() or path.count(".") > 3 or ".distributions." in path:
        return call_unknown(machine, Unknown(last), args, kwargs, frame)
    return _function(machine, last, args, kwargs, frame)


def _function(
    machine: Machine, name: str, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Return the result of `torch.f(x)` or `F.f(x)`: the operation of that name."""
    values = [*args, *kwargs.values()]
    option = kwargs.get("inplace")
    first = args[0] if args else None
    if isinstance(first, AbstractTensor) and (
        (isinstance(option, Const) and option.value)
        or (name.endswith("_") and not name.endswith("__"))
    ):
        return inplace_writes.write(machine, first, name.rstrip("_") + "_", values[1:], frame)
    if name in ops.LOSSES:
        scalar = modules.reduced(kwargs)
    else:
        scalar = tensor_results.reduced(name, args[1:], kwargs, first or NONE)
    if name == "dropout":
        training = kwargs.get("training", args[2] if len(args) > 2 else Const(True))
        if isinstance(training, Const) and not training.value:
            return first or Unknown()
    shape = shapes.reduced(name, first or NONE, args[1:], kwargs)
    result = operators.operate(machine, name, values, frame, scalar, shape)
    return tensor_results.shaped(machine, name, result, args[1:], kwargs, frame)


def _switch(name: str, args: Args, kwargs: Kwargs) -> AbstractValue:
    """Return a context manager or switch of recording; a bare decorator counts too."""
    grad = _SWITCHES[name]
    if name == "set_grad_enabled":
        mode = args[0] if args else kwargs.get("mode", Const(True))
        grad = bool(mode.value) if isinstance(mode, Const) else None
        return Context(grad)
    if args and isinstance(args[0], FunctionValue) and grad is not None:
        args[0].no_grad = not grad
        return args[0]
    return Context(grad)


def _make(
    machine: Machine, name: str, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Return a new tensor, a leaf if `requires_grad=True`, without the graph of its data."""
    lost = None
    if name in _COPYING:
        graphs, ended = value_graphs.origins(args)
        guessed = machine.suspecting == "no-grad" and value_graphs.maybe_graph(args)
        made = Lost("tensor", frame.place(), graphs, ended)
        lost = made if graphs or guessed else value_graphs.joined(ended)
    if name == "as_tensor" and args and isinstance(args[0], AbstractTensor):
        return args[0]
    wanted = kwargs.get("requires_grad")
    leaf = isinstance(wanted, Const) and bool(wanted.value)
    tensor = leaf_tensor(machine, frame, lost) if leaf else AbstractTensor(lost=lost)
    shapes.give(tensor, shapes.made(name, args, kwargs))
    return tensor


def _backward(
    machine: Machine, name: str, args: Args, kwargs: Kwargs, frame: InterpreterFrame
) -> AbstractValue:
    """Execute `torch.autograd.grad` or `torch.autograd.backward`."""
    names: tuple[str, ...] = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
    if name == "backward":
        names = ("tensors", "grad_tensors", "retain_graph", "create_graph")
    options = dict(zip(names, args, strict=False)) | kwargs
    outputs = options.get(names[0], Unknown())
    backward_calls.backward(
        machine,
        [outputs],
        options,
        frame,
        kind="grad" if name == "grad" else "backward",
        explicit=is_given(options.get("grad_outputs" if name == "grad" else "grad_tensors")),
    )
    if name == "backward":
        return NONE
    return _gradients(machine, options, outputs, frame)


def is_given(value: AbstractValue | None) -> bool:
    """Return True if an argument is present and not None."""
    return value is not None and not (isinstance(value, Const) and value.value is None)


def _gradients(
    machine: Machine, options: Kwargs, outputs: AbstractValue, frame: InterpreterFrame
) -> AbstractValue:
    """Return gradients, which carry a graph of their own only under `create_graph`."""
    create = options.get("create_graph")
    wanted = create is not None and not (isinstance(create, Const) and not create.value)
    inputs = options.get("inputs", Unknown())
    weights = options.get("grad_outputs", NONE)
    parents = value_graphs.graphs([outputs, inputs, weights]) if wanted else ()

    def gradient(of: AbstractValue) -> AbstractValue:
        made = AbstractTensor(lost=Lost("grad", frame.place()))
        if parents:
            made = machine.tensor("grad", parents, frame, saves=True)
        shapes.give(made, shapes.of(of))
        return made

    if isinstance(inputs, Sequence) and not inputs.open:
        return Sequence([gradient(item) for item in inputs.items], "tuple")
    if isinstance(inputs, AbstractTensor):
        return Sequence([gradient(inputs)], "tuple")
    return Sequence([gradient(NONE)], "tuple", open_=True)
