"""Find backward calls, what they begin from and which gradient they are given."""

from __future__ import annotations

import ast
from itertools import pairwise

from analyzers.source.callees import is_call, keyword
from analyzers.source.flow import mentions
from analyzers.source.project import Module, Project, spelled
from analyzers.source.receivers import takes_loss
from analyzers.source.trees import nodes_of

_GRADIENTS = frozenset({"gradient", "grad_tensors", "grad_outputs"})


def backward_calls(node: ast.AST) -> list[ast.Call]:
    """Return the backward calls: `.backward(...)`, `torch.autograd.backward/grad(...)`."""
    return [
        inner
        for inner in nodes_of(node, ast.Call)
        if is_call(inner, "torch.Tensor.backward", "torch.autograd.grad")
    ]


BACKWARD_CALLS = (
    "torch.Tensor.backward",
    "torch.autograd.grad",
    "lightning.LightningModule.manual_backward",
)


def backward_root(call: ast.Call) -> ast.expr | None:
    """Return the root of a backward call: its receiver, or its first argument."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        receiver = call.func.value
        if takes_loss(call):
            return call.args[0]
        if spelled(receiver) not in ("torch.autograd", "autograd"):
            return receiver
    return keyword(call, "outputs", "tensors") or next(iter(call.args), None)


def starts_later(node: ast.AST, name: str, module: Module) -> bool:
    """Return True if a backward below a node, in its own scope, starts from a name."""
    calls = backward_calls(module.scope_of(node))
    below = (c for c in calls if c.lineno > getattr(node, "lineno", 0))
    roots = (backward_root(call) for call in below)
    return any(root is not None and mentions(root, name) for root in roots)


def gradient_given(call: ast.Call) -> ast.expr | None:
    """Return the gradient that a backward call begins with, where it is handed one."""
    given = keyword(call, *_GRADIENTS) or _second_argument(call)
    return None if isinstance(given, ast.Constant) and given.value is None else given


def _second_argument(call: ast.Call) -> ast.expr | None:
    """Return the argument after the root, and after the inputs of `autograd.grad`."""
    root, is_grad = backward_root(call), is_call(call, "torch.autograd.grad")
    at = is_grad + (call.args.index(root) + 1 if root in call.args else 0)
    of_torch = is_grad or spelled(call.func).endswith("autograd.backward")
    own = root not in call.args or of_torch
    return call.args[at] if own and at < len(call.args) else None


def is_guarded(call: ast.Call, module: Module) -> bool:
    """Return True if a backward call is made only where its root has a graph, as under
    `if loss.requires_grad:`."""
    root = backward_root(call)
    guards = (
        above.test
        for inner, above in pairwise([call, *module.ancestors(call)])
        if isinstance(above, ast.If) and inner in above.body
    )
    return root is not None and any(_says_of_graph(test, spelled(root)) for test in guards)


def _says_of_graph(test: ast.expr, root: str) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            return any(_says_of_graph(part, root) for part in parts)
        case ast.Attribute(value=value, attr="requires_grad"):
            return spelled(value) == root
        case ast.Compare(
            left=ast.Attribute(value=value, attr="grad_fn"),
            ops=[ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            return spelled(value) == root
    return False


def backward_by_hand(project: Project) -> tuple[str, ast.FunctionDef] | None:
    """Return the first `backward` of a layer of the script's own (`Dense.backward`), or None."""
    for module, node in project.each(ast.ClassDef):
        methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        theirs = any(module.in_library(spelled(base)) for base in node.bases)
        if "forward" in methods and "backward" in methods and not theirs:
            return f"{node.name}.backward", methods["backward"]
    return None
