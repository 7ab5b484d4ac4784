"""Decide when a statement runs: once, during construction, or only while a cache is empty."""

from __future__ import annotations

import ast

from analyzers.source.calls import calls_to
from analyzers.source.project import FUNCTIONS, Module, Project, spelled
from analyzers.source.trees import nodes_of, walk

_EMPTY = ("deque", "defaultdict", "dict", "list")
CONSTRUCTORS = ("__init__", "__post_init__", "reset", "setup")
STORING = "cached_property"  # the decorator that stores a method's result under the method's name
CACHES = ("lru_cache", "cache", STORING)


def constructs(project: Project, scope: ast.AST, depth: int = 3) -> bool:
    """Return True if a function runs only during construction: a constructor, or a method that only
    constructors call.
    """
    name = getattr(scope, "name", "")
    if name in CONSTRUCTORS:
        return True
    callers = [module.scope_of(call) for module, call in calls_to(project, name)]
    return bool(callers and depth) and all(constructs(project, c, depth - 1) for c in callers)


def cache_of(function: ast.AST, *names: str) -> ast.expr | None:
    """Return a library's decorator that caches the function's result, so that the function runs
    only on a miss; None if there is none.
    """
    for decorator in function.decorator_list if isinstance(function, FUNCTIONS[:2]) else ():
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if spelled(called).rpartition(".")[2] in (names or CACHES):
            return decorator
    return None


def only_when_missing(project: Project, statement: ast.stmt, attribute: str) -> bool:
    """Return True if the statement fills a cache: it runs only under `if self.x is None` or the
    like, or after an early return of the cached value.
    """
    for module in project.modules.values():
        if statement in module.parents:
            return fills_cache(module, statement, attribute) is not None
    return False


def fills_cache(module: Module, statement: ast.stmt, attribute: str = "") -> ast.If | None:
    """Return the `if` that skips a statement once the attribute (or anything) exists: one around
    it, or one before it that returns early.
    """
    for parent in module.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and attribute in spelled(parent.test):
            inside = any(statement is n for s in parent.body for n in walk(s))
            return parent if inside and not _asks_for_room(parent.test) else None
    for earlier in module.block_of(statement):
        if earlier is statement:
            return None
        if isinstance(earlier, ast.If) and attribute in spelled(earlier.test):
            if isinstance(earlier.body[-1], ast.Return):
                return earlier
    return None


def _asks_for_room(test: ast.expr) -> bool:
    """Return True if a test compares sizes (`len(self.buffer) < n`), which does not ask for a
    missing value.
    """
    return any(
        any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        for node in nodes_of(test, ast.Compare)
    )


def binds_nothing(statement: ast.stmt) -> bool:
    """Return True if a statement binds an empty value: None, a number, an empty container."""
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    match value:
        case ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=function, args=given, keywords=named):
            made = spelled(function).rpartition(".")[2]
            held = named if made == "dict" else []  # a deque's are its length
            return made in _EMPTY and len(given) + len(held) <= (made == "defaultdict")
    return False
