"""What entries look for: calls, writes, state that a loop hands on."""

from __future__ import annotations

import ast

from analyzers.advice import Look
from analyzers.source.detached import names_attached
from analyzers.source.flow import is_plainly_number, names_read
from analyzers.source.project import Module, spelled
from analyzers.source.targets import assigned

MAX_SPELLED = 60
_LIBRARIES = frozenset({"torch", "nn", "init", "F", "utils"})  # what theirs writes is no fault


def calls(*names: str, keyword: str = "") -> Look:
    """Calls of functions or methods of these names; with an argument of this name, if given
    (`inplace=True`: with this value)."""
    wanted = frozenset(names)
    argument, _, value = keyword.partition("=")

    def look(node: ast.AST, _: Module) -> str | None:
        if not isinstance(node, ast.Call) or (wanted and last_name(node.func) not in wanted):
            return None
        if argument and not any(
            k.arg == argument and (not value or spelled(k.value) == value) for k in node.keywords
        ):
            return None
        return short(node.func)

    return look


def storing(*names: str) -> Look:
    """Calls of these names that are given something which may have a graph."""
    called = calls(*names)

    def look(node: ast.AST, module: Module) -> str | None:
        given = node.args if isinstance(node, ast.Call) else []
        return called(node, module) if any(map(names_attached, given)) else None

    return look


def attribute(*names: str) -> Look:
    """Reads of attributes of these names."""
    wanted = frozenset(names)

    def look(node: ast.AST, _: Module) -> str | None:
        if isinstance(node, ast.Attribute) and node.attr in wanted:
            return short(node) if isinstance(node.ctx, ast.Load) else None
        return None

    return look


def requires_grad(wanted: bool) -> Look:
    """`x.requires_grad = True` and `x.requires_grad_(True)`, or the same with False."""

    def look(node: ast.AST, _: Module) -> str | None:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="requires_grad") as target]):
                return short(target) if _is(node.value, wanted) else None
            case ast.Call(func=ast.Attribute(attr="requires_grad_") as target):
                given = node.args[0] if node.args else ast.Constant(True)
                return short(target) if _is(given, wanted) else None
        return None

    return look


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def mentions(*words: str) -> Look:
    """Names, attributes and imports of which a part is one of these words."""

    def look(node: ast.AST, _: Module) -> str | None:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                return name if any(word in name for word in words) else None
            case ast.ImportFrom(module=str(name)):
                return name if any(word in name for word in words) else None
        return None

    return look


def written_in_place(node: ast.AST, module: Module) -> str | None:
    """`x += y`, `x[i] = y`, `x.mul_(y)`; for numbers and lists such lines mean nothing, so sums
    of constants are left out."""
    match node:
        case ast.AugAssign(target=target, value=value):
            return None if is_plainly_number(value) or _is_aside(target) else short(target)
        case ast.Assign(targets=[ast.Subscript(value=value, slice=index)]):
            return None if _is_text(index) else short(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if _is_inplace(name):
            return None if _is_aside(value) or _root(value) in _LIBRARIES else short(node.func)
    return None


def _is_aside(node: ast.expr) -> bool:
    """Whether a target is one that autograd does not see: `w.data`, `p.grad`."""
    return isinstance(node, ast.Attribute) and node.attr in ("data", "grad")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_inplace(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_") and name != "requires_grad_"


def carried(node: ast.AST, module: Module) -> str | None:
    """`h = rnn(x, h)` and `y, h = rnn(x, h)`: what a call gives goes into its next call."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    handed = {name for a in node.value.args for name in _names(a)}
    return next((name for name in assigned(node) if name in handed), None)


def renewed(node: ast.AST, module: Module) -> str | None:
    """`h = h.detach()` and `h = Tensor(h.data)` in a loop: the state loses its history there."""
    if not isinstance(node, ast.Assign) or not module.loops_around(node):
        return None
    return next((name for name in assigned(node) if name in _bare(node.value)), None)


def _bare(value: ast.expr) -> set[str]:
    """The names of which an expression takes the numbers alone."""
    parts = (p for p in ast.walk(value) if isinstance(p, ast.Attribute))
    bare = [p.value for p in parts if p.attr in ("data", "detach")]
    return {spelled(n.value if isinstance(n, ast.Subscript) else n) for n in bare}


def _names(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {spelled(node)}
    inner = node.elts if isinstance(node, ast.Tuple) else [node]
    return {spelled(each) for each in inner if isinstance(each, ast.Name | ast.Attribute)}


def summed_up(node: ast.AST, module: Module) -> str | None:
    """`total += loss` and `total = total + loss` of something that is no plain number."""
    match node:
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return None if is_plainly_number(value) or _is_aside(target) else short(target)
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value):
            if name in names_read(value.left) and not is_plainly_number(value.right):
                return name
    return None


def walks_behind(step: bool) -> Look:
    """A `backward()` with another one above it in the same block of statements, and a `step()`
    between the two (or none)."""

    def look(node: ast.AST, module: Module) -> str | None:
        block = getattr(node, "body", None)
        if not isinstance(block, list):
            return None
        found = [name for s in block if isinstance(s, ast.Expr) and (name := _stepping(s.value))]
        walks = [at for at, name in enumerate(found) if name != "step"]
        if len(walks) < 2:
            return None
        between = "step" in found[walks[0] : walks[-1]]
        return f"{found[walks[0]]}` and `{found[walks[-1]]}" if between == step else None

    return look


def _stepping(node: ast.expr) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    name = last_name(node.func)
    return "step" if name == "step" else short(node.func) if name.endswith("backward") else None


def last_name(node: ast.expr) -> str:
    """`backward` of `self.loss.backward`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def short(node: ast.expr) -> str:
    """The expression, if it is no longer than a name."""
    text = spelled(node)
    return text if len(text) <= MAX_SPELLED and "{" not in text else f"{text[:MAX_SPELLED]}…"
