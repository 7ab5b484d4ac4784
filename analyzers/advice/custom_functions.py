"""Custom Functions, what their forward saves and their backward does: named looks."""

from __future__ import annotations

import ast

from analyzers.advice.checkpoints import is_read
from analyzers.advice.looking import Found, is_function, last_name, short, written_in_place
from analyzers.source.flow import names_bound, walk_scope
from analyzers.source.project import Module, spelled
from analyzers.source.signatures import named
from analyzers.source.targets import assigned
from analyzers.source.trees import nodes_of, walk

_ONE_LINE = 400


def function_class(node: ast.AST, module: Module) -> str | None:
    """Match a class that derives from `autograd.Function`."""
    return node.name if isinstance(node, ast.ClassDef) and is_function(node) else None


def legacy_function(node: ast.AST, module: Module) -> str | None:
    """Match a Function whose forward is an instance method."""
    if not isinstance(node, ast.ClassDef) or not is_function(node):
        return None
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "forward"]
    plain = any(not m.decorator_list for m in methods)
    return node.name if plain else None


def function_backward(node: ast.AST, module: Module) -> str | None:
    """Match the `return` of a Function's backward."""
    if not isinstance(node, ast.Return) or node.value is None:
        return None
    scope = module.scope_of(node)
    inside = isinstance(scope, ast.FunctionDef) and scope.name in ("backward", "vjp")
    if not inside or not is_function(module.parents.get(scope, scope)):
        return None
    return module.code(node.lineno)[:_ONE_LINE]


def checked_in_single(node: ast.AST, module: Module) -> str | None:
    """Match `gradcheck(f, (torch.randn(3, dtype=torch.float32), ))`, where nothing is double."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in ("gradcheck", "gradgradcheck"):
        return None
    double = any(word in module.text for word in ("float64", "double"))
    return short(node.func) if not double and "float" in spelled(node) else None


def kept_from_forward(node: ast.AST, module: Module) -> str | None:
    """Match what a Function's forward computes and keeps on `ctx`, where a script uses
    `gradgradcheck`."""
    scope = module.scope_of(node)
    if "gradgradcheck" not in module.text or not isinstance(scope, ast.FunctionDef):
        return None
    if scope.name != "forward" or not is_function(module.parents.get(scope, scope)):
        return None
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=holder))], value=kept):
            context = scope.args.args[0].arg if scope.args.args else ""
            return (
                spelled(kept) if holder == context and spelled(kept) not in named(scope) else None
            )
    return None


def gradient_unused(node: ast.AST, module: Module) -> str | None:
    """Match the `return` of a Function's backward that reads none of the gradients it is given."""
    found = function_backward(node, module)
    scope = module.scope_of(node)
    if found is None or not isinstance(scope, ast.FunctionDef):
        return None
    given = {argument.arg for argument in scope.args.args[1:]}
    read = {n.id for n in walk_scope(scope) if isinstance(n, ast.Name) and is_read(n)}
    return found if given and not scope.args.vararg and not given & read else None


def returns_sometimes(node: ast.AST, module: Module) -> Found:
    """Match the `forward` of a custom Function that returns only under a condition."""
    if not isinstance(node, ast.FunctionDef) or not is_function(module.parents.get(node, node)):
        return None
    last = node.body[-1]
    inside = isinstance(last, ast.If) and not last.orelse
    returns = inside and any(isinstance(n, ast.Return) for n in walk(last))
    return (node.name, last) if returns else None


def returns_input(node: ast.AST, module: Module) -> str | None:
    """Match `return x` of an argument in the forward of a custom Function."""
    method = _method_of(node, module, "forward")
    if method is None or not isinstance(node, ast.Return) or not isinstance(node.value, ast.Name):
        return None
    given = {argument.arg for argument in method.args.args[1:]}
    return node.value.id if node.value.id in given - names_bound(method) else None


def saves_no_argument(node: ast.AST, module: Module) -> str | None:
    """Match `ctx.save_for_backward(input)` where `input` is Python's own function."""
    match node:
        case ast.Call(func=ast.Attribute(attr="save_for_backward")):
            scope = module.scope_of(node)
            known = names_bound(scope) | {a.arg for a in nodes_of(scope, ast.arg)}
            given = (a.id for a in node.args if isinstance(a, ast.Name))
            return next((name for name in given if name not in known), None)
    return None


def backward_writes(node: ast.AST, module: Module) -> str | None:
    """Match a write in a Function's backward into a gradient that it is given, or into what its
    forward saved."""
    method = _method_of(node, module, "backward")
    written = written_in_place(node, module) if method is not None else None
    if method is None or written is None:
        return None
    saved = (n for n in nodes_of(method, ast.Assign) if _is_saved(n.value))
    theirs = {
        *(a.arg for a in method.args.args[1:]),
        *(name for n in saved for name in assigned(n)),
    }
    return written if _root(written) in theirs else None


def undeclared_write(node: ast.AST, module: Module) -> str | None:
    """Match a write in a Function's forward into one of its inputs, which it does not mark."""
    method = _method_of(node, module, "forward")
    written = written_in_place(node, module) if method is not None else None
    if method is None or written is None or "mark_dirty" in module.text:
        return None
    return written if _root(written) in {a.arg for a in method.args.args} else None


def unpacks_others(node: ast.AST, module: Module) -> str | None:
    """Match `a, b, c = ctx.saved_tensors` where `save_for_backward` is given another number."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=value) if _is_saved(value):
            method = _method_of(node, module, "backward")
            owner = module.parents.get(method) if method is not None else None
            given = (
                [
                    call.args
                    for call in nodes_of(owner, ast.Call)
                    if last_name(call.func) == "save_for_backward"
                ]
                if owner is not None
                else []
            )
            open_ended = any(isinstance(a, ast.Starred) for args in [*given, parts] for a in args)
            if given and not open_ended and all(len(args) != len(parts) for args in given):
                return spelled(node.targets[0])
    return None


def _method_of(node: ast.AST, module: Module, name: str) -> ast.FunctionDef | None:
    """Return the method of this name of a custom Function that a statement is in."""
    scope = module.scope_of(node)
    if not isinstance(scope, ast.FunctionDef) or scope.name != name:
        return None
    return scope if is_function(module.parents.get(scope, scope)) else None


def _is_saved(value: ast.expr) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "saved_tensors"


def _root(written: str) -> str:
    """Return the name that a write begins with: `a` of `a[1:2]`."""
    return written.partition(".")[0].partition("[")[0]


def class_methods_of_function(node: ast.AST, module: Module) -> str | None:
    """Match `@classmethod` over `forward` or `backward` of a custom Function."""
    match node:
        case ast.FunctionDef(name="forward" | "backward" as name, decorator_list=marks):
            ours = is_function(module.parents.get(node, node))
            return name if ours and "classmethod" in map(spelled, marks) else None
    return None


def output_on_context(node: ast.AST, module: Module) -> str | None:
    """Match `ctx.y = y` in a forward that returns `y` or `ctx.y`: the context keeps an output,
    which keeps the context."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="ctx")) as kept], value=value):
            scope = module.scope_of(node)
            if not isinstance(scope, ast.FunctionDef) or scope.name != "forward":
                return None
            returns = [r.value for r in walk_scope(scope) if isinstance(r, ast.Return) and r.value]
            parts = [e for r in returns for e in (r.elts if isinstance(r, ast.Tuple) else [r])]
            same = {spelled(kept), spelled(value)} & set(map(spelled, parts))
            return spelled(kept) if same else None
    return None
