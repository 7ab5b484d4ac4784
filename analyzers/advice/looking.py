"""What the catalogue's causes look for in syntax: calls, reads, writes, flags."""

from __future__ import annotations

import ast
from collections.abc import Callable

from analyzers.source import priors
from analyzers.source.callees import is_call, plain_name
from analyzers.source.detached import names_attached
from analyzers.source.flow import is_plainly_number, names_read
from analyzers.source.project import Module, spelled
from analyzers.source.writes import writes_in_place

# What a cause finds in a syntax node of a module: the name to tell it by, or nothing.
Look = Callable[[ast.AST, Module], str | None]
# The same of looks through blocks, with the node of the line that is meant.
Found = str | tuple[str, ast.AST] | None
BlockLook = Callable[[ast.AST, Module], Found]

_NUMPY = frozenset({"np", "numpy", "math", "random"})
MAX_SPELLED = 60
REGISTERING = ("Parameter", "register_parameter", "ParameterList", "ParameterDict")
_LIBRARIES = frozenset({"torch", "nn", "init", "F", "utils"})  # what theirs writes is no fault


def calls(*names: str, keyword: str = "") -> Look:
    """Return a look for calls of these names, with an argument `keyword` if given.

    `inplace=True` also asks for the value.
    """
    wanted = frozenset(names)
    argument, _, value = keyword.partition("=")

    def look(node: ast.AST, module: Module) -> str | None:
        if not isinstance(node, ast.Call):
            return _decorator(node, module, wanted) if wanted and not argument else None
        if wanted and plain_name(node) not in wanted:
            return None
        if argument and not any(
            k.arg == argument and (not value or spelled(k.value) == value) for k in node.keywords
        ):
            return None
        return short(node.func)

    return look


def _decorator(node: ast.AST, module: Module, wanted: frozenset[str]) -> str | None:
    """Return the name of a decorator that is not called: `@torch.inference_mode`."""
    if not isinstance(node, ast.Name | ast.Attribute) or last_name(node) not in wanted:
        return None
    parent = module.parents.get(node)
    of = getattr(parent, "decorator_list", ())
    return short(node) if any(each is node for each in of) else None


def compiled(node: ast.AST, module: Module) -> str | None:
    """Match `torch.compile(...)`, `@torch.compile` and `model.compile()`."""
    match node:
        case ast.Call(func=ast.Name() as func) if module.names.qualified(func) != "torch.compile":
            return None  # Python's own, or a function of the script
        case ast.Call() if not is_call(node, "torch.compile"):
            return None  # `re.compile(...)`
    return calls("compile")(node, module)


def of_values(look: Look) -> Look:
    """Return the same look for calls with arguments that are no constants, nor made of them."""

    def found(node: ast.AST, module: Module) -> str | None:
        given = node.args if isinstance(node, ast.Call) else []
        read = {name.partition(".")[0] for each in given for name in names_read(each)}
        return look(node, module) if read - _LIBRARIES - _NUMPY else None

    return found


def storing(*names: str) -> Look:
    """Return a look for calls of these names with an argument that may have a graph."""
    called = calls(*names)

    def look(node: ast.AST, module: Module) -> str | None:
        given = node.args if isinstance(node, ast.Call) else []
        return called(node, module) if any(map(names_attached, given)) else None

    return look


def attribute(*names: str) -> Look:
    """Return a look for reads of attributes of these names."""
    wanted = frozenset(names)

    def look(node: ast.AST, _: Module) -> str | None:
        if isinstance(node, ast.Attribute) and node.attr in wanted:
            return short(node) if isinstance(node.ctx, ast.Load) else None
        return None

    return look


def requires_grad(wanted: bool) -> Look:
    """Return a look for `x.requires_grad = True` and `x.requires_grad_(True)`, or with False."""

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


def defines(*names: str) -> Look:
    """Return a look for functions of these names."""

    def look(node: ast.AST, _: Module) -> str | None:
        return node.name if isinstance(node, ast.FunctionDef) and node.name in names else None

    return look


def mentions(*words: str) -> Look:
    """Return a look for names, attributes and imports of which one part is such a word."""

    def look(node: ast.AST, _: Module) -> str | None:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                return name if any(word in name for word in words) else None
            case ast.ImportFrom(module=str(name)):
                return name if any(word in name for word in words) else None
        return None

    return look


def written_in_place(node: ast.AST, module: Module) -> str | None:
    """Match `x += y`, `x[i] = y`, `x.mul_(y)`, `torch.exp_(x)`.

    For numbers and lists such lines mean nothing, so sums of constants are left out.
    """
    match node:
        case ast.AugAssign(target=target, value=value):
            number = is_plainly_number(value) or priors.is_count(last_name(target))
            return None if number or is_aside(target) else short(target)
        case ast.Assign(targets=[ast.Subscript(value=value, slice=index)]):
            return None if _is_text(index) else short(value)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch" | "F"), attr=name), args=[x, *_]
        ):
            return short(x) if writes_in_place(name) else None
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if writes_in_place(name):
            return None if is_aside(value) or _root(value) in _LIBRARIES else short(node.func)
    return None


def written_in_compiled(node: ast.AST, module: Module) -> str | None:
    """Match a write in place under `no_grad` inside of a function that is compiled."""
    if (name := written_in_place(node, module)) is None:
        return None
    scope = module.scope_of(node)
    made = any(compiled(each, module) for each in getattr(scope, "decorator_list", ()))
    return name if made and is_unrecorded(node, module) else None


def is_unrecorded(node: ast.AST, module: Module) -> bool:
    """Return True if code is in a `with torch.no_grad()` block."""
    blocks = (above for above in module.ancestors(node) if isinstance(above, ast.With))
    entered = (item.context_expr for block in blocks for item in block.items)
    return any(calls("no_grad", "inference_mode")(each, module) for each in entered)


def weight_replaced(node: ast.AST, module: Module) -> str | None:
    """Match `layer.weight = f(w)`: a computed value in the place of a parameter."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(attr="weight" | "bias") as to], value=ast.Call(func=made)
        ):
            kept = last_name(made) in (*REGISTERING, "detach", "clone", "data")
            return None if kept else short(to)
    return None


def is_aside(node: ast.expr) -> bool:
    """Return True if autograd does not see a write to the target: `w.data`, `p.grad`."""
    return isinstance(node, ast.Attribute) and node.attr in ("data", "grad")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_function(node: ast.AST) -> bool:
    """Return True for a class that derives from `autograd.Function`."""
    bases = getattr(node, "bases", ())
    return any(last_name(base) in ("Function", "InplaceFunction") for base in bases)


def last_name(node: ast.expr) -> str:
    """Return the last name of a path: `backward` of `self.loss.backward`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def short(node: ast.expr) -> str:
    """Return the start of the expression's source; `…` marks a longer one, and one with a brace."""
    text = spelled(node)
    return text if len(text) <= MAX_SPELLED and "{" not in text else f"{text[:MAX_SPELLED]}…"
