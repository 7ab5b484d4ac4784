"""Losses, scalers, caches, wrappers and trainers: named looks."""

from __future__ import annotations

import ast

from analyzers.advice.looking import Found, calls, last_name, short
from analyzers.source import priors
from analyzers.source.backward import BACKWARD_CALLS, gradient_given, is_guarded, starts_later
from analyzers.source.callees import in_library, is_call
from analyzers.source.calls import reads_gradient
from analyzers.source.project import Module, spelled
from analyzers.source.trees import nodes_of, walk


def cache_in_use(node: ast.AST, module: Module) -> str | None:
    """Match `use_cache=True`, `past_key_values=cache`, `DynamicCache()`."""
    match node:
        case ast.keyword(arg="use_cache", value=ast.Constant(value=True)):
            return "use_cache=True"
        case ast.keyword(arg="past_key_values" | "past_key_value" as name):
            return name
        case ast.Assign(targets=[ast.Attribute(attr="use_cache")], value=ast.Constant(value=True)):
            return short(node.targets[0])
        case ast.Call(func=func) if last_name(func) in ("DynamicCache", "StaticCache"):
            return short(func)
    return None


def wrapped_called_twice(node: ast.AST, module: Module) -> Found:
    """Match two calls of a DDP module before one backward call."""
    inside = _in_block(node)
    wrapped = {
        name
        for statement in (module.each(ast.Assign) if inside else ())
        if calls("DistributedDataParallel", "DDP")(statement.value, module) is not None
        for name in map(spelled, statement.targets)
    }
    before: dict[str, int] = {}
    for call in inside:
        name = spelled(call.func)
        if last_name(call.func) == "backward":
            before.clear()
        elif name in wrapped:
            before[name] = before.get(name, 0) + 1
            if before[name] == 2:
                return name, call
    return None


def _in_block(node: ast.AST) -> list[ast.Call]:
    """Return the calls in a block, statement by statement."""
    block = getattr(node, "body", None)
    statements = block if isinstance(block, list) else []
    return [call for statement in statements for call in _calls(statement)]


def number_in_loss(node: ast.AST, module: Module) -> str | None:
    """Match `loss = loss + other.item()`: a number, added to what a backward starts from."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as total):
            added = [total.left, total.right]
            if name not in map(spelled, added):
                return None
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            added = [value]
        case _:
            return None
    numbers = [a for a in added if isinstance(a, ast.Call) and last_name(a.func) == "item"]
    return spelled(numbers[0]) if numbers and starts_later(node, name, module) else None


def optimizer_before_move(node: ast.AST, module: Module) -> str | None:
    """Match an optimizer created above the line that moves, wraps or replaces its model."""
    match node:
        case ast.Assign(value=ast.Call(args=[ast.Call(func=ast.Attribute(value=owner, attr=
                        "parameters")), *_])):  # fmt: skip
            return _replaced_below(spelled(owner), node.lineno, module)
    return None


def _replaced_below(owner: str, line: int, module: Module) -> str | None:
    for other in module.each(ast.Assign):
        made = any(spelled(t).partition(".")[0] == owner.partition(".")[0] for t in other.targets)
        if made and other.lineno > line and isinstance(other.value, ast.Call):
            return owner
    return None


def cleared_before_step(node: ast.AST, module: Module) -> Found:
    """Match `zero_grad()` between a backward call and the step of the same optimizer in one block,
    in which nothing else handles gradients."""
    last, cleared = "", None
    for call in _in_block(node):
        name = last_name(call.func)
        if name == "zero_grad" and last == "backward":
            cleared = call
        elif "grad" in name and "clip" not in name:
            cleared = None  # what was cleared may be filled again
        if name == "step" and cleared is not None and _steps_cleared(call, cleared, module):
            return (short(cleared.func), cleared) if not reads_gradient(node) else None
        if name in ("backward", "step"):
            last, cleared = name, None
    return None


def _steps_cleared(step: ast.Call, cleared: ast.Call, module: Module) -> bool:
    """Return True if a step is of what was cleared: of the optimizer, or of one of the model's."""
    owner, stepped = (spelled(c.func.value) if isinstance(c.func, ast.Attribute) else ""
                      for c in (cleared, step))  # fmt: skip
    if owner in (stepped, *map(spelled, step.args)):
        return True
    made = (n.value for n in module.each(ast.Assign) if stepped in map(spelled, n.targets))
    return any(f"{owner}.parameters()" in spelled(value) for value in made)


def cleared_in_accumulation(node: ast.AST, module: Module) -> Found:
    """Match `zero_grad()` before the backward under `with accelerator.accumulate(model)`."""
    if not isinstance(node, ast.With) or not _enters(node, module, "accumulate"):
        return None
    called = sorted(_calls(node), key=lambda call: call.lineno)
    first = next((c for c in called if last_name(c.func) in ("zero_grad", "backward")), None)
    if first is None or last_name(first.func) != "zero_grad":
        return None
    return short(first.func), first


def clipped_in_accumulation(node: ast.AST, module: Module) -> Found:
    """Match `accelerator.clip_grad_norm_(...)` for every batch under `accelerator.accumulate`."""
    if not isinstance(node, ast.With) or not _enters(node, module, "accumulate"):
        return None
    for call in _calls(node):
        around = (above for above in module.ancestors(call) if isinstance(above, ast.If))
        once = any(spelled(above.test).endswith(".sync_gradients") for above in around)
        if not once and last_name(call.func).startswith("clip_grad_"):
            return (short(call.func), call) if "accelerator" in spelled(call.func) else None
    return None


def cast_without_graph(node: ast.AST, module: Module) -> Found:
    """Match a call without gradients inside of autocast, which is repeated with gradients there."""
    if not isinstance(node, ast.With) or not _enters(node, module, "autocast"):
        return None
    for call in _calls(node):
        match call.func:
            case ast.Attribute(value=owner, attr="generate"):  # records nothing
                if any(
                    spelled(c.func) == spelled(owner) and c.lineno > call.lineno
                    for c in _calls(node)
                ):
                    return short(call.func), call
    for block in nodes_of(node, ast.With):
        if _enters(block, module, "no_grad", "inference_mode"):
            later = {spelled(c.func) for c in _calls(node) if c.lineno > (block.end_lineno or 0)}
            for call in _calls(block):
                if spelled(call.func) in later and not in_library(call):
                    return short(call.func), call
    return None


def _calls(node: ast.AST) -> list[ast.Call]:
    return nodes_of(node, ast.Call)


def _enters(block: ast.With, module: Module, *names: str) -> bool:
    """Return True if a block is under one of these context managers."""
    wanted = calls(*names)
    return any(wanted(item.context_expr, module) is not None for item in block.items)


def half_parameters(node: ast.AST, module: Module) -> str | None:
    """Match `model.half()`, `torch_dtype=torch.float16`, `model.to(torch.float16)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="half") as func, args=[]):
            return short(func)
        case ast.keyword(arg="torch_dtype" | "dtype" as name, value=value):
            half = spelled(value).endswith(("float16", "half")) and "bfloat" not in spelled(value)
            return f"{name}={spelled(value)}" if half else None
        case ast.Call(func=ast.Attribute(attr="to") as func, args=[value, *_]):
            return short(func) if spelled(value) in ("torch.float16", "torch.half") else None
    return None


def unscale_twice(node: ast.AST, module: Module) -> Found:
    """Match two calls of `unscale_` without an `update()` between them, in one block."""
    seen = 0
    for call in _in_block(node):
        name = last_name(call.func)
        seen = 0 if name == "update" else seen + (name == "unscale_")
        if seen == 2:
            return short(call.func), call
    return None


_MODELS = ("model", "net", "network", "trainer", "engine")


def given_gradient(node: ast.AST, module: Module) -> str | None:
    """Match the gradient that a `backward` or `autograd.grad` is given to begin with."""
    if not isinstance(node, ast.Call) or not is_call(node, *BACKWARD_CALLS):
        return None
    given = gradient_given(node)
    return short(given) if given is not None and not _is_own_backward(node) else None


def _is_own_backward(call: ast.Call) -> bool:
    """Return True for a method of a script's own: `self.edge_model.backward(loss_g, loss_d)`."""
    owner = last_name(call.func.value).lower() if isinstance(call.func, ast.Attribute) else ""
    second = call.args[1] if len(call.args) > 1 else None
    own = last_name(call.func) == "backward" and owner not in ("autograd", "loss")
    named = isinstance(second, ast.Name | ast.Attribute) or owner.endswith(_MODELS)
    return own and named


def guarded_backward(node: ast.AST, module: Module) -> str | None:
    """Match `if loss.requires_grad: loss.backward()`."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "backward":
        return None
    return short(node.func) if is_guarded(node, module) else None


def loss_call(node: ast.AST, module: Module) -> str | None:
    """Match a loss called with a prediction and a target."""
    if not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) < 2:
        return None
    return short(node.func) if priors.is_loss_function(last_name(node.func)) else None


def stepped_uncleared(node: ast.AST, module: Module) -> str | None:
    """Match `w.data -= lr * w.grad` of a leaf whose gradient no line clears."""
    match node:
        case ast.AugAssign(target=target, op=ast.Sub() | ast.Add(), value=value):
            owner = spelled(target).removesuffix(".data")
            if f"{owner}.grad" not in spelled(value):
                return None
            cleared = f"{owner}.grad = None", f"{owner}.grad.zero_", f"{owner}.grad.data.zero_"
            return None if any(c in module.text for c in (*cleared, "zero_grad")) else owner
    return None


def updated_past_graph(node: ast.AST, module: Module) -> str | None:
    """Match `p.data -= rate * g` where derivatives keep their graph (`create_graph=True`)."""
    match node:
        case ast.AugAssign(target=ast.Attribute(attr="data") as target):
            keeps = calls(keyword="create_graph=True")
            kept = any(keeps(call, module) for call in module.each(ast.Call))
            return short(target) if kept else None
    return None


def losses_of_one_call(node: ast.AST, module: Module) -> str | None:
    """Match `loss_a, loss_b, code = model(x)`: several losses of one forward."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Call()):
            losses = [p.id for p in parts if isinstance(p, ast.Name) and "loss" in p.id.lower()]
            return "` and `".join(losses) if len(losses) > 1 else None
    return None


def backward_in_lightning(node: ast.AST, module: Module) -> str | None:
    """Match `loss.backward()` in a class that sets `automatic_optimization = False`."""
    if not isinstance(node, ast.Call) or last_name(node.func) != "backward" or node.args:
        return None
    owner = next((n for n in module.ancestors(node) if isinstance(n, ast.ClassDef)), None)
    for inner in walk(owner) if owner is not None else ():
        match inner:
            case ast.Assign(targets=[target], value=ast.Constant(value=False)):
                if last_name(target) == "automatic_optimization":
                    return short(node.func)
    return None
