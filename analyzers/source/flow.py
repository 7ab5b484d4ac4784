"""Answer questions about data flow inside one function: what binds a name, what reads it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache
from typing import Literal

from analyzers.source.project import FUNCTIONS, Module, spelled
from analyzers.source.targets import assigned, assigned_pairs, target_names
from analyzers.source.trees import children, nodes_of, remembered, walk

STORING_METHODS = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put", "push"}
)

_ROUNDS = 8  # assignments in a row that are followed
_SCOPES = (*FUNCTIONS, ast.ClassDef)
_NUMBERS = frozenset({"item", "len", "float", "int", "size", "numel"})


@remembered
def walk_scope(scope: ast.AST) -> Sequence[ast.AST]:
    """Return the nodes of a scope in source order, without inner functions and classes."""
    found: list[ast.AST] = []
    todo = children(scope)[::-1]
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            todo += children(node)[::-1]
    return found


@remembered
def yields(scope: ast.AST) -> bool:
    """Return True if a function is a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in walk_scope(scope))


@remembered
def statements_of(scope: ast.AST) -> Sequence[ast.stmt]:
    """Return the statements of a scope in source order, without inner functions."""
    return [node for node in walk_scope(scope) if isinstance(node, ast.stmt)]


@remembered
def bindings(statement: ast.stmt) -> list[str]:
    """Return names and attribute paths that a statement itself binds, walrus targets included.

    A store into a container (`xs[i] = y`, `xs.append(y)`) binds the container's name too.
    """
    names = assigned(statement)
    for name in list(names):
        if "[" in name:
            names.append(name[: name.index("[")])
    if isinstance(statement, ast.Expr) and (stored := stored_into(statement.value)):
        names.append(stored)
        if "[" in stored:
            names.append(stored[: stored.index("[")])
    for node in own_expressions(statement):
        if isinstance(node, ast.NamedExpr):
            names.extend(target_names(node.target))
    return names


def stored_into(node: ast.expr) -> str | None:
    """Return `xs` for `xs.append(y)` and similar calls."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in STORING_METHODS
    ):
        return spelled(node.func.value)
    return None


def put_in(statement: ast.stmt) -> ast.expr | None:
    """Return what a statement puts into a container: `y` for `xs.append(y)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return call.args[-1] if isinstance(call, ast.Call) and call.args else None


def declared_outer(function: ast.AST) -> set[str]:
    """Return names that a function declares `nonlocal` or `global`."""
    return {
        name
        for node in walk_scope(function)
        if isinstance(node, ast.Nonlocal | ast.Global)
        for name in node.names
    }


@remembered
def own_expressions(statement: ast.stmt) -> Sequence[ast.AST]:
    """Return the nodes of a statement's own expressions, without the statements in its body."""
    own = (c for c in children(statement) if not isinstance(c, ast.stmt | ast.excepthandler))
    return [node for child in own for node in walk(child)]


def mentions(node: ast.AST, path: str) -> bool:
    """Return True if the expression reads the name or attribute path."""
    wanted = "" if path.isidentifier() else _dumped(path)
    for inner in walk(node):
        if isinstance(inner, ast.Name) and inner.id == path and isinstance(inner.ctx, ast.Load):
            return True
        if wanted and isinstance(inner, ast.Attribute | ast.Subscript):
            if isinstance(inner.ctx, ast.Load) and ast.dump(inner) == wanted:
                return True
    return False


@cache
def _dumped(path: str) -> str:
    """Return the syntax tree of an attribute path as a string; empty if it is no expression."""
    try:
        return ast.dump(ast.parse(path, mode="eval").body)
    except SyntaxError:
        return ""


def reads(node: ast.AST, path: str) -> bool:
    """Return True if a statement (with its body) or expression reads the path."""
    return mentions(node, path) or any(
        spelled(inner.target) == path for inner in nodes_of(node, ast.AugAssign)
    )


def first_use(block: Sequence[ast.stmt], path: str) -> Literal["read", "bound"] | None:
    """Return what a block does first with a name: read it, or rebind it. Inner loops are assumed to
    run; of two branches, one that reads counts, and where only one rebinds it, a later read does.
    """
    perhaps: Literal["bound"] | None = None
    for statement in block:
        own = [*own_expressions(statement)]
        if any(mentions(node, path) for node in own if isinstance(node, ast.expr)):
            return "read"
        if isinstance(statement, ast.AugAssign) and spelled(statement.target) == path:
            return "read"
        if path in assigned(statement):
            return "bound"
        inner = [first_use(inner, path) for inner in _blocks(statement)]
        if "read" in inner:
            return "read"
        if "bound" in inner:
            if not isinstance(statement, ast.If) or inner == ["bound", "bound"]:
                return "bound"
            perhaps = "bound"
    return perhaps


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list) and block:
            yield block
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def names_read(node: ast.AST) -> set[str]:
    """Return the plain names that are loaded, and dotted paths (`self.h`, `self.state.h`)."""
    return set(_names_read(node))


@remembered
def _names_read(node: ast.AST) -> Set[str]:
    found: set[str] = set()
    for inner in walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, ast.Attribute) and is_dotted(inner):
            found.add(spelled(inner))
    return found


@remembered
def names_read_by(statement: ast.stmt) -> Set[str]:
    """Return what a statement's own expressions read, without the statements in its body."""
    own = [c for c in children(statement) if not isinstance(c, ast.stmt | ast.excepthandler)]
    return frozenset().union(*map(names_read, own))


def is_dotted(node: ast.expr) -> bool:
    """Return True for a name, or attributes of one: `x`, `self.net.weight`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def definitions(scope: ast.AST, name: str) -> list[ast.stmt]:
    """Return the statements of a scope that bind the name, in source order."""
    return list(_binding(scope).get(name, ()))


def names_bound(scope: ast.AST) -> Set[str]:
    """Return what the statements of a scope bind."""
    return _binding(scope).keys()


def bound_within(node: ast.AST) -> set[str]:
    """Return what a node or any statement within it binds, including inner functions."""
    return {name for s in nodes_of(node, ast.stmt) for name in bindings(s)}


@remembered
def _binding(scope: ast.AST) -> dict[str, list[ast.stmt]]:
    """Return the statements of a scope by the names that they bind."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in statements_of(scope):
        for name in dict.fromkeys(bindings(statement)):
            found.setdefault(name, []).append(statement)
    return found


@remembered
def feeding(scope: ast.AST) -> dict[str, list[tuple[ast.stmt, set[str]]]]:
    """Return, for each name that a scope's statements bind or store into, those statements and the
    names that each value reads.
    """
    found: dict[str, list[tuple[ast.stmt, set[str]]]] = {}
    for statement in statements_of(scope):
        if (value := value_of(statement) or put_in(statement)) is not None:
            read = names_read(value)
            for name in dict.fromkeys(bindings(statement)):
                found.setdefault(name, []).append((statement, read))
    return found


def flowing_into(statements: Sequence[ast.stmt], wanted: Set[str]) -> set[str]:
    """Return the wanted names, and those from which assignments, stores and loops compute them."""
    given = [_taking(statement) for statement in statements]
    found = set(wanted)
    for _ in range(_ROUNDS):
        found |= set().union(*(read for bound, read in given if bound & found))
    return found


def _taking(statement: ast.stmt) -> tuple[set[str], Set[str]]:
    """Return what a statement binds or stores into, and the names from which it takes that."""
    if isinstance(statement, ast.For):
        return set(target_names(statement.target)), names_read(statement.iter)
    return set(bindings(statement)), names_read_by(statement)


def value_of(statement: ast.stmt) -> ast.expr | None:
    """Return the value of an assignment."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return statement.value
    return None


def part_for(statement: ast.stmt, is_name: Callable[[str], bool]) -> ast.expr | None:
    """Return what an assignment assigns to a name; for `a, b = x, y` the matching part."""
    for target, part in assigned_pairs(statement):
        if is_name(spelled(target)) or is_name(spelled(target).partition("[")[0]):
            return part
    return value_of(statement)


def run_around(module: Module, statement: ast.stmt, belongs: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the consecutive statements of one block, around this one, that are in `belongs`."""
    block = module.block_of(statement)
    at = block.index(statement)
    first, last = at, at
    while first > 0 and block[first - 1] in belongs:
        first -= 1
    while last + 1 < len(block) and block[last + 1] in belongs:
        last += 1
    return block[first : last + 1]


def rebinds(statement: ast.stmt, name: str) -> bool:
    """Return True if a plain assignment binds the name to a value computed from itself."""
    return any(
        spelled(target) == name and mentions(value, name)
        for target, value in assigned_pairs(statement)
    )


def is_plainly_number(node: ast.expr, scope: ast.AST | None = None) -> bool:
    """Return True if an expression is a number by its form; with a scope, also a name that is bound
    only to such numbers there.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name in _NUMBERS
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.BinOp(left=left, right=right):
            return is_plainly_number(left, scope) and is_plainly_number(right, scope)
        case ast.Name(id=name) if scope is not None:
            given = [value_of(statement) for statement in definitions(scope, name)]
            return bool(given) and all(v is not None and is_plainly_number(v) for v in given)
    return False
