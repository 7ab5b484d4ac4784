"""What comes between two backward calls, or leaves the graph: named looks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.advice.iterations import WRAPPERS, backwards
from analyzers.advice.looking import (
    Found,
    Look,
    is_function,
    last_name,
    requires_grad,
    short,
    written_in_place,
)
from analyzers.source import priors
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.callees import creates_module, is_call, keyword
from analyzers.source.calls import is_false
from analyzers.source.detached import names_attached
from analyzers.source.flow import bindings, names_read, statements_of, value_of
from analyzers.source.project import Module, spelled
from analyzers.source.trees import nodes_of, remembered, walk

_COPIES = ("clone", "detach", "view", "reshape", "to", "cuda", "float", "unsqueeze", "squeeze")
_COPYING = tuple(f"torch.{n}" for n in ("tensor", "Tensor", "FloatTensor"))
_STEEP = tuple(f"torch.{name}" for name in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"))


def compared_types(node: ast.AST, module: Module) -> str | None:
    """Match `type(h) == Variable`, which is true of no tensor any more."""
    match node:
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")) as left, comparators=[other]):
            return spelled(left) if spelled(other).endswith("Variable") else None
    return None


def kept_by_self(node: ast.AST, module: Module) -> str | None:
    """Match `self.state = f(x)` outside `__init__`: it lives as long as its object."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call | ast.BinOp):
        return None
    name = next((s for t in node.targets if (s := spelled(t)).startswith("self.")), None)
    scope = module.scope_of(node)
    inside = isinstance(scope, ast.FunctionDef) and scope.name != "__init__"
    cut = spelled(node.value).endswith((".detach()", ".item()"))
    return name if name is not None and inside and not cut else None


two_backwards, step_between = backwards(step=False), backwards(step=True)


def changed_over_views(node: ast.AST, module: Module) -> str | None:
    """Match `for row in x: row += 1`: iteration gives views."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return None
    name = node.target.id
    written = (written_in_place(inner, module) for s in node.body for inner in walk(s))
    return name if any(w is not None and w.split(".")[0] == name for w in written) else None


def broadcasting_wrapper(node: ast.AST, module: Module) -> str | None:
    """Match DDP that broadcasts buffers, of a module that has some."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in WRAPPERS[:2]:
        return None
    if is_false(keyword(node, "broadcast_buffers")):
        return None
    return short(node.func) if "BatchNorm" in module.text or "buffer" in module.text else None


def forced_leaf(node: ast.AST, module: Module) -> str | None:
    """Match `loss.requires_grad = True` for a loss, judged by its name."""
    name = requires_grad(True)(node, module)
    return name if name is not None and "loss" in name.lower() else None


def flag_on_module(node: ast.AST, module: Module) -> str | None:
    """Match `module.requires_grad = True` for an object whose parameters are used elsewhere."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=owner, attr="requires_grad") as target]):
            return short(target) if spelled(owner) in modules_named(module) else None
    return None


def modules_named(module: Module) -> set[str]:
    """Return the names that are used as modules: asked for parameters, or made of layers."""
    return set(_asked(module)) | set(_made_of_layers(module))


def _asked(module: Module) -> Iterator[str]:
    for node in module.each(ast.Attribute):
        if node.attr in ("parameters", "named_parameters", "state_dict", "modules", "children"):
            yield spelled(node.value)


def _made_of_layers(module: Module) -> Iterator[str]:
    for node in module.each(ast.Assign):
        if isinstance(node.value, ast.Call) and creates_module(node.value):
            yield from map(spelled, node.targets)


def derived_without_graph(node: ast.AST, module: Module) -> str | None:
    """Match `autograd.grad(y, x)` without `create_graph`, if another backward call may begin from
    what it gives."""
    if not isinstance(node, ast.Call) or not spelled(node.func).endswith("grad"):
        return None
    if last_name(node.func) != "grad" or keyword(node, "create_graph") is not None:
        return None
    if not any(call is not node for call in backward_calls(module.tree)):
        return None
    return short(node.func) if len(node.args) > 1 or node.keywords else None


def derivative_in_backward(node: ast.AST, module: Module) -> str | None:
    """Match `torch.autograd.grad(...)` in the `backward` of a custom Function, where nothing is
    recorded."""
    if not isinstance(node, ast.Call) or not is_call(node, "torch.autograd.grad"):
        return None
    scope, owner = module.scope_of(node), module.class_of(node)
    if not isinstance(scope, ast.FunctionDef) or scope.name != "backward" or owner is None:
        return None
    return short(node.func) if is_function(owner) and "enable_grad" not in spelled(owner) else None


def made_in_call(node: ast.AST, module: Module) -> str | None:
    """Match `autograd.grad(loss, x.clone())`: a gradient of what is made in the call itself."""
    if not isinstance(node, ast.Call) or not is_call(node, "torch.autograd.grad"):
        return None
    named = (k.value for k in node.keywords if k.arg == "inputs")
    given = next(named, node.args[1] if len(node.args) > 1 else None)
    parts = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
    return next((short(part) for part in parts if part is not None and _is_new(part)), None)


def _is_new(value: ast.expr) -> bool:
    """Return True if an expression makes a tensor of another: `-x`, `x + y`, `x.clone()`."""
    match value:
        case ast.UnaryOp() | ast.BinOp():
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _COPIES
    return False


def numpy_functions(node: ast.AST, module: Module) -> str | None:
    """Match `np.sum(x)` and its like."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"))):
            return short(node.func)
    return None


def numpy_sums(node: ast.AST, module: Module) -> str | None:
    """Match `np.sum(x)` and `np.mean(x)`, which also take a list of tensors."""
    name = numpy_functions(node, module)
    return name if name is not None and name.endswith((".sum", ".mean")) else None


def reaching(look: Look) -> Look:
    """Return the same look without what cannot have cut a loss: lines of which nothing goes into
    the values whose backward their scope calls, and what losses take as targets."""

    def found(node: ast.AST, module: Module) -> str | None:
        name = look(node, module)
        return name if name is None or not _takes_no_part(node, module) else None

    return found


def _takes_no_part(node: ast.AST, module: Module) -> bool:
    statement, above = node, module.parents.get(node)
    while above is not None and not isinstance(statement, ast.stmt):
        if isinstance(above, ast.Call) and statement in _targets_in(above):
            return True
        statement, above = above, module.parents.get(above)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        imported = {(a.asname or a.name).partition(".")[0] for a in statement.names}
        return not any(isinstance(n, ast.Name) and n.id in imported for n in module.nodes)
    wanted = _going_into_losses(module.scope_of(node))
    bound = set(bindings(statement)) if isinstance(statement, ast.stmt) else set()
    return bool(wanted) and bool(bound) and not bound & wanted


def _targets_in(call: ast.Call) -> list[ast.expr]:
    """Return what a loss function compares its first argument with."""
    return call.args[1:] if priors.is_loss_function(last_name(call.func)) else []


@remembered
def _going_into_losses(scope: ast.AST) -> set[str]:
    """Return the names whose gradients may reach the losses that a scope calls backward on."""
    calls_made = (call for statement in statements_of(scope) for call in backward_calls(statement))
    roots = [root for call in calls_made if (root := backward_root(call)) is not None]
    wanted = {name for root in roots for name in names_read(root)}
    values = [(set(bindings(s)), value_of(s)) for s in statements_of(scope)]
    for _ in values:
        more = [value for bound, value in values if value is not None and bound & wanted]
        if (found := wanted.union(*map(_differentiated, more))) == wanted:
            break
        wanted = found
    return wanted


def _differentiated(value: ast.expr) -> set[str]:
    """Return the names that an expression reads, but for those that losses take as targets."""
    made = nodes_of(value, ast.Call)
    targets = [target for call in made for target in _targets_in(call)]
    aside = {id(node) for target in targets for node in walk(target)}
    parts = nodes_of(value, ast.Name, ast.Attribute)
    return {name for node in parts if id(node) not in aside for name in names_read(node)}


def _results_copied(node: ast.AST, module: Module) -> str | None:
    """Match `log_probs = torch.tensor(saved)`: a new tensor of numbers that were losses or
    logarithms, by the names that are bound or read."""
    value = node.value if isinstance(node, ast.Assign) else None
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if is_call(value, *_COPYING):
            break
        value = value.func.value  # `.to(device)`
    if not isinstance(node, ast.Assign) or not isinstance(value, ast.Call):
        return None
    names = {*bindings(node), *(name for given in value.args for name in names_attached(given))}
    results = [name for name in names if priors.is_loss(name) or priors.is_logarithm(name)]
    kept = any(map(priors.is_left_out, names))
    return short(value.func) if is_call(value, *_COPYING) and results and not kept else None


results_copied = reaching(_results_copied)


def selected_after(node: ast.AST, module: Module) -> str | None:
    """Match `torch.log(x)[mask]`."""
    match node:
        case ast.Subscript(value=ast.Call() as made, slice=index) if names_read(index):
            return short(node) if is_call(made, *_STEEP) else None
    return None


def sliced_by_values(node: ast.AST, module: Module) -> str | None:
    """Match `x[start:end]` in a function, where a bound is no constant."""
    if not isinstance(node, ast.Subscript) or isinstance(module.scope_of(node), ast.Module):
        return None
    slices = nodes_of(node.slice, ast.Slice)
    bounds = [bound for part in slices for bound in (part.lower, part.upper) if bound is not None]
    return short(node) if any(map(names_read, bounds)) else None


def looped_derivatives(node: ast.AST, module: Module) -> Found:
    """Match `for i in …: torch.autograd.grad(losses[i], weight, retain_graph=True)`."""
    match node:
        case ast.For(target=ast.Name(id=index)) | ast.comprehension(target=ast.Name(id=index)):
            around = node if isinstance(node, ast.For) else module.parents.get(node)
        case _:
            return None
    for call in nodes_of(around, ast.Call) if around is not None else ():
        if last_name(call.func) == "grad" and call.args:
            given = call.args[0]
            if isinstance(given, ast.Subscript) and index in names_read(given.slice):
                return short(call.func), call
    return None
