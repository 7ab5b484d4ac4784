"""Find functions of the script that cut a value from its history."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.explain.source_locations import returns_of
from analyzers.source.callees import plain_name
from analyzers.source.flow import names_read, walk_scope
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.targets import assigned_pairs
from analyzers.source.trees import nodes_of, walk
from provenance import Binding

_CUTS = ("detach", "detach_", "data")
_MAY_CALL = frozenset(
    {"isinstance", "type", "tuple", "list", "dict", "len", "zip", "map", "items", "values", "keys"}
    | {"is_tensor", "detach", "detach_", "clone", "requires_grad_", "Variable", "append", "hasattr"}
    | {"replace", "_replace", "_make", "deque", "OrderedDict", "enumerate", "range", "fields"}
)


def functions_cutting(module: Module, project: Project) -> list[str]:
    """Return functions that a module can call by a plain name and that return their arguments
    without graphs (`repackage_hidden`).
    """
    named = [(node.name, node) for node in module.tree.body if isinstance(node, ast.FunctionDef)]
    for node in walk_scope(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            source = project.module(node.module.replace(".", "/") + ".py")
            for item in node.names if source is not None else ():
                there = source.functions_named(item.name) if source is not None else ()
                own = [f for f in there if isinstance(f, ast.FunctionDef)]
                named += [(item.asname or item.name, function) for function in own]
    return [name for name, function in named if _cuts_its_argument(function)]


def _cuts_its_argument(function: ast.FunctionDef) -> bool:
    given = function.args
    required = len(given.args) - len(given.defaults)
    if required != 1 or not given.args or given.args[0].arg in ("self", "cls"):
        return False
    returns = [node.value for node in returns_of(function)]
    return bool(returns) and None not in returns and _only_cuts(function, set())


def methods_cutting(binding: Binding, project: Project) -> Iterator[str]:
    """Yield calls, on the bound value or its owner, of methods that do nothing but cut: `memory =
    memory.detach()`, `model.detach_hidden()`.
    """
    owner, dot, attribute = binding.name.rpartition(".")
    for kind, method in bare_methods(project):
        if not _only_cuts(method, {kind.name}):
            continue
        gives = any(node.value for node in returns_of(method))
        own = kind.name == binding.kind.name
        touched = f"self.{attribute}" in (names_read(method) if gives else _cut_in(method))
        if own or (dot and touched and (owner.isidentifier() or not gives)):
            of = binding.name if own else owner
            yield f"{of} = {of}.{method.name}()" if gives else f"{of}.{method.name}()"


def bare_methods(project: Project) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    """Yield methods without parameters besides `self`, no constructors, each with its class."""
    for _, kind in project.each(ast.ClassDef):
        for method in kind.body:
            if isinstance(method, ast.FunctionDef) and not method.decorator_list:
                if method.name == "__init__":
                    continue
                required = len(method.args.args) - len(method.args.defaults)
                if required == 1 and method.args.args[0].arg == "self":
                    yield kind, method


def _cut_in(method: ast.FunctionDef) -> set[str]:
    """Return the attributes that a method rebinds or calls a method of."""
    calls = nodes_of(method, ast.Call)
    called = {spelled(call.func).rpartition(".")[0] for call in calls}
    return called | {spelled(target) for n in walk(method) for target, _ in assigned_pairs(n)}


def _only_cuts(function: ast.FunctionDef, known: set[str]) -> bool:
    """Return True if a function detaches, and calls nothing that does anything else."""
    calls = {plain_name(node) for node in nodes_of(function, ast.Call)}
    cuts = any(n.attr in _CUTS for n in nodes_of(function, ast.Attribute))
    inner = any(isinstance(n, FUNCTIONS) for n in walk_scope(function))
    return cuts and not inner and calls <= {*_MAY_CALL, *known, function.name}
