"""What a statement does, as far as its syntax shows: what it names, sets, calls and adds to."""

from __future__ import annotations

import ast

from analyzers.source.trees import remembered

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_UPDATES = ("zero_grad", "backward", "step", "clip_grad_norm_", "unscale_", "update")
_OF_MODULES = {"parameters", "named_parameters", "children", "modules", "named_modules"}


@remembered
def names(node: ast.AST) -> frozenset[str]:
    """Return every name that occurs."""
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


@remembered
def called(node: ast.AST) -> frozenset[str]:
    """Return the names that are called."""
    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    return frozenset(func.id for func in calls if isinstance(func, ast.Name))


@remembered
def differentiated(node: ast.stmt) -> frozenset[str]:
    """Return the names of what `backward` is called on."""
    found: set[str] = set()
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Attribute(value=value, attr="backward")):
                found |= names(value)
    return frozenset(found)


@remembered
def handed_on(node: ast.stmt) -> frozenset[str]:
    """Return the functions that a statement gives to a step, returns, or calls for an object:
    `optimizer.step(closure)`, `return closure`, `visit(self)`."""
    found: set[str] = set()
    for one in ast.walk(node):
        match one:
            case (
                ast.Call(func=ast.Attribute(attr="step"), args=[ast.Name(id=name), *_])
                | ast.Return(value=ast.Name(id=name))
                | ast.Call(func=ast.Name(id=name), args=[ast.Name(id="self"), *_])
            ):
                found.add(name)
    return frozenset(found)


@remembered
def stepped(node: ast.stmt) -> frozenset[str]:
    """Return what a step is taken of: `optimizer` for `optimizer.step()`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="step"))):
            return frozenset({ast.unparse(owner)})
    return frozenset()


def filled(node: ast.stmt) -> set[str]:
    """Return the names that a statement adds to: `total += x`, `h = f(h)`, `xs.append(x)`."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return set() if isinstance(value, ast.Constant) else {name}  # it counts
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Call() as value):
            return {name} & names(value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))):
            return {name} if attr in ("append", "extend", "insert", "add") else set()
    return set()


def begun(node: ast.stmt) -> set[str]:
    """Return the names that begin as a number or an empty list."""
    match node:
        case ast.Assign(targets=targets, value=ast.Constant() | ast.List(elts=[])):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple()):
            return {*names(target)}
    return set()


def is_method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the first argument is an object or a class."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    return bool(arguments) and arguments[0].arg in ("self", "cls")


def is_of_modules(node: ast.expr) -> bool:
    """Whether it is parameters or modules that are iterated over."""
    attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return bool(attributes & _OF_MODULES) or any("param" in name for name in names(node))


def is_update(node: ast.stmt) -> bool:
    """Whether it is a part of an update: `zero_grad()`, `backward()`, `step()`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))):
            return attr in _UPDATES
    return False


def sets_mode(node: ast.stmt) -> bool:
    """Whether it is `model.eval()` or `model.train()`, between two loops over batches."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="eval" | "train"), args=[])):
            return True
    return False


def kind(node: ast.stmt) -> object:
    """Return what statements of one purpose have in common: the function that they call, the name
    that they set."""
    if is_update(node):
        return _UPDATES
    match node:
        case ast.Expr(value=ast.Call(func=func)):
            return ast.unparse(func)
        case ast.Assign(targets=[target, *_]) | ast.AugAssign(target=target):
            return ast.unparse(target)
    return type(node)
