"""Which methods of a class training calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from .uses import FUNCTIONS

_MAIN = (
    *("training_step", "train_step", "optimize_parameters", "train", "fit", "learn", "update"),
    *("optimize", "train_one_epoch", "run", "forward", "step", "__call__"),
)
_OF_FRAMEWORKS = ("training_step", "train_step", "optimize_parameters")
_ASIDE = re.compile(r"save|load|eval|test|valid|plot|sample|predict|reset|configure|visuali|render")
_FILLING = ("append", "extend", "insert", "appendleft", "add", "push")
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def calls_backward(node: ast.AST) -> bool:
    """Return True if there is a backward call in it."""
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("backward", "manual_backward")
        for part in ast.walk(node)
    )


def calls_backward_outside_loops(tree: ast.Module) -> bool:
    """Return True if a script calls backward just once: as the body of a loop that was not sent."""
    calling = [
        n for n in tree.body if calls_backward(n) and not isinstance(n, (*FUNCTIONS, ast.ClassDef))
    ]
    loops = (ast.For, ast.AsyncFor, ast.While)
    return bool(calling) and not any(isinstance(node, loops) for node in calling)


def left_out(node: Definition) -> list[ast.arg]:
    """Return the arguments of a function that default to None."""
    positional = [*node.args.posonlyargs, *node.args.args]
    last = positional[len(positional) - len(node.args.defaults) :]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(last, node.args.defaults, strict=True)]
    pairs += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [a for a, value in pairs if isinstance(value, ast.Constant) and value.value is None]


def may_leave_out(tree: ast.Module) -> bool:
    """Return True if functions of a script have such arguments."""
    return any(isinstance(node, FUNCTIONS) and left_out(node) for node in ast.walk(tree))


def without_quoted(tree: ast.Module) -> ast.Module:
    """Return the script without `loss.backward()`, if that is its only statement besides
    definitions.

    Then it is the failing line, quoted before the code.
    """
    rest = [node for node in tree.body if not isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    if len(rest) < len(tree.body) and all(map(_is_quoted, rest)):
        tree.body = [node for node in tree.body if node not in rest]
    return tree


def _is_quoted(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="backward"))):
            return True
    return False


def backward_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of which a script calls `backward`."""
    for part in ast.walk(tree):
        if isinstance(part, ast.Attribute) and part.attr == "backward":
            if isinstance(part.value, ast.Name):
                yield part.value.id


def fillers(reader: Definition, others: Iterable[Definition]) -> list[Definition]:
    """Return those of the functions that fill what another one reads."""
    read = {ast.unparse(p) for p in ast.walk(reader) if isinstance(p, ast.Name | ast.Attribute)}
    return [other for other in others if other is not reader and filled_in(other) & read]


def filled_in(node: ast.AST) -> set[str]:
    """Return the containers that something is appended to, as the script writes them."""
    return {
        ast.unparse(part.func.value)
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        if part.func.attr in _FILLING
    }


def definition(node: ast.ClassDef, name: str) -> Definition | None:
    """Return the method of this name that a class defines, or None."""
    return next((m for m in node.body if isinstance(m, FUNCTIONS) and m.name == name), None)


def is_method(node: ast.stmt) -> bool:
    """Return True if a function was written for a class."""
    return isinstance(node, FUNCTIONS) and [a.arg for a in node.args.args[:1]] == ["self"]


def is_static(node: Definition) -> bool:
    return any(getattr(d, "id", "") == "staticmethod" for d in node.decorator_list)


def keyed_by_rest(node: Definition) -> bool:
    """Return True if a function's further arguments (`*names`) are the keys of something."""
    rest = node.args.vararg.arg if node.args.vararg is not None else ""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.DictComp | ast.For)]
    loops = [(p.generators[0] if isinstance(p, ast.DictComp) else p, p) for p in parts]
    return any(
        getattr(loop.iter, "id", None) == rest and _keys(part) == getattr(loop.target, "id", None)
        for loop, part in loops
        if rest
    )


def _keys(node: ast.DictComp | ast.For) -> str | None:
    """Return the name that gives the keys of what a comprehension, or a loop, fills."""
    if isinstance(node, ast.DictComp):
        return getattr(node.key, "id", None)
    stored = (p for s in node.body for p in ast.walk(s) if isinstance(p, ast.Subscript))
    return next((getattr(p.slice, "id", None) for p in stored), None)


def unmade(tree: ast.Module) -> list[ast.ClassDef]:
    """Return the classes of which a script makes no object, as far as it goes."""
    loaded = set[str]()
    for statement in tree.body:
        own = getattr(statement, "name", "")
        bases = {id(base) for base in getattr(statement, "bases", [])}
        loaded |= {
            part.id
            for part in ast.walk(statement)
            if isinstance(part, ast.Name) and part.id != own and id(part) not in bases
        }
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    extended = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    return [node for node in classes if node.name not in loaded | extended]


def entries(node: ast.ClassDef) -> list[Definition]:
    """Return the methods of a class that training calls: those that no other method calls.

    They are in source order, but the one that calls backward, or that frameworks enter, is last.
    """
    methods = {m.name: m for m in node.body if isinstance(m, FUNCTIONS)}
    called = {
        part.func.attr
        for method in methods.values()
        for part in ast.walk(method)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
        if getattr(part.func.value, "id", "") == "self" and part.func.attr != method.name
    }
    open_ = [m for m in methods.values() if m.name not in called and _is_entry(m)]
    framework = next((m for m in open_ if m.name in _OF_FRAMEWORKS), None)
    if framework is not None:
        return [framework]
    calling = [m for m in open_ if _leads_to_backward(m, methods)]
    if calling:
        return [*(m for m in open_ if m not in calling and m.name != "forward"), *calling]
    named = [methods[name] for name in _MAIN if name in methods]
    return named[:1] or open_[:1]


def _is_entry(method: Definition) -> bool:
    plain = not method.name.startswith("_") or method.name == "__call__"
    decorated = any(not _is_static_name(d) for d in method.decorator_list)
    return plain and not decorated and not _ASIDE.search(method.name)


def _is_static_name(node: ast.expr) -> bool:
    return getattr(node, "id", getattr(node, "attr", "")) in ("staticmethod", "no_grad")


def _leads_to_backward(method: Definition, methods: dict[str, Definition], depth: int = 4) -> bool:
    """Return True if it calls backward, itself or by a method that it calls."""
    if calls_backward(method):
        return True
    asked = {p.attr for p in ast.walk(method) if isinstance(p, ast.Attribute)} & methods.keys()
    others = (methods[name] for name in asked if name != method.name)
    return depth > 0 and any(_leads_to_backward(other, methods, depth - 1) for other in others)
