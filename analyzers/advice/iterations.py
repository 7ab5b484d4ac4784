"""What outlives an iteration: named looks."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.advice.looking import (
    BlockLook,
    Found,
    is_aside,
    last_name,
    short,
)
from analyzers.source.backward import backward_calls, backward_root
from analyzers.source.detached import names_attached
from analyzers.source.flow import (
    bindings,
    definitions,
    first_use,
    flowing_into,
    is_plainly_number,
    names_read,
    statements_of,
    value_of,
)
from analyzers.source.project import Module, spelled
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of, walk

WRAPPERS = ("DistributedDataParallel", "DDP", "DataParallel", "FSDP", "compile")


def carried(node: ast.AST, module: Module) -> str | None:
    """Match `h = rnn(x, h)` and `y, h = rnn(x, h)` where `h` outlives an iteration, or a call.

    A call's result is passed to its next call. A model that is wrapped is no state, nor is what is
    made again before each backward call. Without a backward call in the loop, what comes first in
    the call is the layer's input, and a state comes behind it.
    """
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    around = _repeated(node, module)
    if last_name(node.value.func) in WRAPPERS or around is None:
        return None
    block, has_backward = around
    arguments = node.value.args[0 if has_backward else 1 :]
    arguments += [keyword.value for keyword in node.value.keywords]
    handed = {name for a in arguments for name in _names(a) if first_use(block, name) == "read"}
    alone = not module.loops_around(node) and isinstance(module.scope_of(node), ast.Module)
    found = (name for name in assigned(node) if name in handed and not (alone and "." in name))
    return next(found, None)


def overwritten(node: ast.AST, module: Module) -> str | None:
    """Match `camera.pose = adjust(camera.pose)`, over several statements, too: what an object from
    outside holds is replaced by a value that is computed of it."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Attribute):
        return None
    scope, name = module.scope_of(node), spelled(node.targets[0])
    called = any(isinstance(inner, ast.Call) for inner in walk(node.value))
    if not called or is_aside(node.targets[0]) or not _outlives(name, scope):
        return None
    statements = [s for s in statements_of(scope) if s.lineno <= node.lineno]
    flowing = flowing_into(statements[:-1], names_read(node.value))
    values = [v for s in statements if flowing & {*bindings(s)} and (v := value_of(s)) is not None]
    return name if name in flowing and not any(map(_bare, values)) else None


def _outlives(name: str, scope: ast.AST) -> bool:
    """Return True if an attribute is of an object that a scope is given, or takes out of a
    container."""
    taken = [value_of(made) for made in definitions(scope, name.partition(".")[0])]
    kept = (isinstance(v, ast.Subscript) or (isinstance(v, ast.Call) and last_name(v.func) == "pop")
            for v in taken)  # fmt: skip
    return getattr(scope, "name", "") != "__init__" and all(kept)


def _repeated(node: ast.AST, module: Module) -> tuple[list[ast.stmt], bool] | None:
    """Return the statements that may run more than once with this one, and whether a backward call
    is among them: the body of the nearest loop with one, of the nearest loop, of the function; the
    whole text if it is a part of a loop that was not sent: it calls backward itself."""
    loops = module.loops_around(node)
    training = next((loop for loop in loops if backward_calls(loop)), None)
    if training is not None:
        return training.body, True
    scope = loops[0] if loops else module.scope_of(node)
    if isinstance(scope, ast.Module) and not loops:
        calls = (call for call in backward_calls(scope) if not module.loops_around(call))
        return (scope.body, True) if any(module.scope_of(c) is scope for c in calls) else None
    return None if isinstance(scope, ast.Module | ast.Lambda) else (scope.body, False)


def renewed(node: ast.AST, module: Module) -> str | None:
    """Match `h = h.detach()` and `h = Tensor(h.data)` in a loop: the state loses its history
    there."""
    if not isinstance(node, ast.Assign) or not module.loops_around(node):
        return None
    return next((name for name in assigned(node) if name in _bare(node.value)), None)


def _bare(value: ast.expr) -> set[str]:
    """Return the names of which an expression takes only the numbers."""
    parts = nodes_of(value, ast.Attribute)
    bare = [p.value for p in parts if p.attr in ("data", "detach")]
    return {spelled(n.value if isinstance(n, ast.Subscript) else n) for n in bare}


def _names(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {spelled(node)}
    inner = node.elts if isinstance(node, ast.Tuple) else [node]
    return {spelled(each) for each in inner if isinstance(each, ast.Name | ast.Attribute)}


def summed_up(node: ast.AST, module: Module) -> str | None:
    """Match `total += loss` and `total = total + loss` unless the term is a plain number."""
    match node:
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return None if is_plainly_number(value) or is_aside(target) else short(target)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value):
            if name in names_read(value.left) and not is_plainly_number(value.right):
                return name
    return None


def summed_for_backward(node: ast.AST, module: Module) -> str | None:
    """Match such a sum that a backward starts from."""
    name = summed_up(node, module)
    roots = (backward_root(call) for one in module.nodes for call in backward_calls(one))
    return name if name is not None and name in map(spelled, filter(None, roots)) else None


def summed_for_output(node: ast.AST, module: Module) -> str | None:
    """Match another such sum."""
    return summed_up(node, module) if summed_for_backward(node, module) is None else None


def backwards(step: bool) -> BlockLook:
    """Return a look for a second `backward()` in a block, with (or without) a `step()` in
    between."""

    def look(node: ast.AST, module: Module) -> Found:
        block = getattr(node, "body", None)
        if not isinstance(block, list):
            return None
        found = [(n, s) for s in block if isinstance(s, ast.Expr) and (n := _stepping(s.value))]
        backwards = [at for at, (name, _) in enumerate(found) if name != "step"]
        if len(backwards) < 2:
            return None
        (first, above), (last, statement) = found[backwards[0]], found[backwards[-1]]
        between = any(name == "step" for name, _ in found[backwards[0] : backwards[-1]])
        if between != step or not (step or all(_reaches(s, block) for s in (above, statement))):
            return None
        return f"{first}` and `{last}", statement

    return look


def _reaches(statement: ast.Expr, block: Sequence[ast.stmt]) -> bool:
    """Return True if a backward call goes beyond what its block makes. Of a loss made there of
    detached values alone it reaches parameters only, and no graph that another loss could share.
    """
    loss = backward_root(statement.value) if isinstance(statement.value, ast.Call) else None
    return loss is None or bool(_sources(loss, block[: block.index(statement)]))


def _sources(value: ast.expr, above: Sequence[ast.stmt]) -> set[str]:
    """Return the names whose graphs may reach a value, through the assignments above it; what is
    called by its name is none.
    """
    found, followed = set[str](), set[int]()
    todo = [(value, len(above))]
    while todo:
        value, end = todo.pop()
        called = {spelled(n.func) for n in nodes_of(value, ast.Call)} | {"self"}
        for name in names_attached(value) - called:
            at = next((n for n in reversed(range(end)) if name in assigned(above[n])), None)
            made = above[at] if at is not None else None
            if at is None or not isinstance(made, ast.Assign):
                found.add(name)
            elif at not in followed:
                followed.add(at)
                todo.append((made.value, at))
    return found


def _stepping(node: ast.expr) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    name = last_name(node.func)
    return "step" if name == "step" else short(node.func) if name.endswith("backward") else None
