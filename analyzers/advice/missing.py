"""There is no graph, or no gradient, where one was asked for."""

from __future__ import annotations

import ast

from analyzers.advice import Entry
from analyzers.advice import looking as look
from analyzers.source.project import Module, spelled

FAMILIES = ("no-grad",)
FLAT = frozenset({"detached"})
VECTOR = frozenset({"non-scalar"})
UNUSED = frozenset({"unused"})
ARRAYS = frozenset({"numpy"})
COPIES = frozenset({"deepcopy"})
NONLEAF = frozenset({"nonleaf", "rebound"})


def forced_leaf(node: ast.AST, module: Module) -> str | None:
    """`loss.requires_grad = True`, of what by its name is a loss."""
    name = look.requires_grad(True)(node, module)
    return name if name is not None and "loss" in name.lower() else None


def derived_without_graph(node: ast.AST, module: Module) -> str | None:
    """`autograd.grad(y, x)` without `create_graph`."""
    if not isinstance(node, ast.Call) or not spelled(node.func).endswith("grad"):
        return None
    if look.last_name(node.func) != "grad" or any(k.arg == "create_graph" for k in node.keywords):
        return None
    return look.short(node.func) if len(node.args) > 1 or node.keywords else None


def numpy_functions(node: ast.AST, module: Module) -> str | None:
    """`np.sum(x)` and its like."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"))):
            return look.short(node.func)
    return None


def moved_leaf(node: ast.AST, module: Module) -> str | None:
    """`torch.randn(3, requires_grad=True).cuda()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="cuda" | "to" | "double")):
            if any(k.arg == "requires_grad" for k in made.keywords):
                return look.short(made.func)
    return None


ENTRIES = (
    Entry(
        "`{name}` hides the fault: a loss without a graph is made a leaf, the error goes, and "
        "nothing learns. Take it out, and look for what cut the graph above it.",
        forced_leaf,
        FLAT,
    ),
    Entry(
        "with frozen base weights (`{name}`) and gradient checkpointing the inputs of each block "
        "do not require grad: call `model.enable_input_require_grads()` before training, or "
        "checkpoint with `use_reentrant=False`.",
        look.calls(
            "get_peft_model", "LoraConfig", "gradient_checkpointing_enable", "checkpoint",
            "prepare_model_for_kbit_training",
        ),
        FLAT,
    ),
    Entry(
        "nothing is recorded under `{name}`: move the forward, and an attack or penalty that needs "
        "gradients, out of it, or put `with torch.enable_grad():` around that part.",
        look.calls("no_grad", "set_grad_enabled", "inference_mode"),
        FLAT,
    ),
    Entry(
        "`{name}` has no gradient: use a differentiable loss of the scores themselves.",
        look.calls("argmax", "round", "sign", "floor", "topk", "long", "int", "multinomial", "eq"),
        FLAT,
    ),
    Entry(
        "`{name}` copies numbers, not graphs: `torch.stack` a list of tensors instead.",
        look.calls("tensor", "as_tensor", "FloatTensor", "Tensor", "from_numpy", "Variable"),
        FLAT,
    ),
    Entry(
        "`{name}` comes from a library that computes with NumPy, which knows no graph: use a "
        "solver written in torch, or give the gradient in an `autograd.Function`.",
        look.mentions("scipy", "odeint", "solve_ivp", "sklearn"),
        FLAT | UNUSED,
    ),
    Entry(
        "`{name}` leaves the graph: keep the tensor until backward() is done.",
        look.attribute("data", "detach", "item", "numpy", "detach_"),
        FLAT,
    ),
    Entry(
        "`{name}` gives derivatives without a graph of their own: `create_graph=True` where a "
        "loss is made of them.",
        derived_without_graph,
        FLAT | UNUSED,
    ),
    Entry(
        "parameters are frozen at `{name}`: if every one on the way to the loss is, nothing is "
        "left to learn.",
        look.requires_grad(False),
        FLAT,
    ),
    Entry(
        "`{name}` gives one loss for each GPU, a vector: `loss.mean().backward()`.",
        look.calls("DataParallel", "DataParallelCriterion"),
        VECTOR,
        "data_parallel",
    ),
    Entry(
        "`{name}` is told to give one value for each element: take the `.mean()` before "
        "backward().",
        look.calls(keyword="reduction='none'"),
        VECTOR,
    ),
    Entry(
        "`{name}` wants one number: take `.mean()` or `.sum()` of the loss; behind `DataParallel` "
        "a loss made in `forward` is a vector with one entry for each GPU.",
        look.calls("backward"),
        VECTOR,
    ),
    Entry(
        "`{name}` is asked for the gradient of something that its output was not made of: use the "
        "very tensor in the forward (not a copy, a slice or `.data` of it); `allow_unused=True` "
        "gives None for it.",
        look.calls("grad"),
        UNUSED,
    ),
    Entry(
        "`{name}` waits for every parameter: leave unused ones out of the model, or "
        "`find_unused_parameters=True`.",
        look.calls("DistributedDataParallel", "DDP"),
        UNUSED,
    ),
    Entry(
        "`{name}` takes NumPy's way through a tensor with a graph: `torch` has the same "
        "function; for numbers to show, `x.detach().cpu().numpy()`.",
        numpy_functions,
        ARRAYS,
    ),
    Entry(
        "`{name}` wants numbers: `.detach().cpu().numpy()`.",
        look.calls("numpy", "plot", "asarray", "array", "scatter", "imshow", "hist"),
        ARRAYS,
    ),
    Entry(
        "`{name}` keeps tensors with their graphs, which fails where they are made an array: "
        "append `loss.item()`.",
        look.storing("append"),
        ARRAYS,
    ),
    Entry(
        "`{name}` stores a computed weight, which is no leaf and cannot be copied: copy the model "
        "first, or use `torch.nn.utils.parametrizations` of newer versions.",
        look.calls("weight_norm", "spectral_norm"),
        COPIES,
    ),
    Entry(
        "`{name}` copies whatever the module holds: detach activations that are kept on `self`, "
        "or build a new model and `load_state_dict`.",
        look.calls("deepcopy"),
        COPIES,
    ),
    Entry(
        "`{name}` makes a leaf and moves it, and what comes of that is no leaf: make it on its "
        "device and in its type, then `requires_grad_()`.",
        moved_leaf,
        NONLEAF,
    ),
    Entry(
        "`{name}` is empty for a tensor that is the result of an operation: use the leaf, or call "
        "`retain_grad()` on it before backward().",
        look.attribute("grad"),
        NONLEAF,
    ),
    Entry(
        "Modules under the old `torch.nn.utils.weight_norm` could not be copied; the "
        "parametrization that replaces it can.",
        look.calls("weight_norm"),
        COPIES,
        kind="version",
    ),
)  # fmt: skip
