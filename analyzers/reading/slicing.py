"""Slices of a file: statements that share a value under some name.

A second run need not repeat statements unrelated to the conditions that it decides otherwise.
Rebinding a name starts a new value; functions read their free names when they are called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from analyzers.reading.builtin_names import BUILTINS
from analyzers.source.flow import declared_outer, walk_scope
from analyzers.source.trees import children, remembered

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (ast.ClassDef, *_FUNCTIONS)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMING = (ast.alias, *_SCOPES, *_COMPREHENSIONS)
_GIVING = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For)


def related(
    body: Iterable[ast.stmt], wanted: Set[ast.stmt], library: Set[ast.stmt]
) -> list[ast.stmt]:
    """Return the statements that share values with the wanted ones, in order, with `library`
    imports.

    Names that library imports bind do not relate statements.
    """
    values = _Values()
    groups = []
    for statement in body:
        if statement in library:
            values.forget(_Uses(statement).bound)
        groups.append((statement, None if statement in library else values.of(statement)))
    chosen = {values.find(group) for statement, group in groups if group and statement in wanted}
    return [s for s, group in groups if group is None or values.find(group) in chosen]


class _Values:
    """Groups of statements (numbered from 1) that share values, as the file goes on."""

    def __init__(self) -> None:
        self._parents = [0]
        self._current: dict[str, int] = {}
        self._late: dict[int, set[str]] = {}

    def find(self, group: int) -> int:
        """Return the representative of all groups joined with this one (union-find)."""
        while self._parents[group] != group:
            self._parents[group] = group = self._parents[self._parents[group]]
        return group

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._current[name] = 0

    def of(self, statement: ast.stmt) -> int:
        """Return the group of the next statement."""
        uses = _Uses(statement)
        group = len(self._parents)
        self._parents.append(group)
        self._late[group] = set()
        todo, met = list(uses.read), set[str]()
        while todo:
            name = todo.pop()
            if name not in met and name not in BUILTINS and not name.startswith("__"):
                met.add(name)
                other = self._current.setdefault(name, group)
                if other:
                    todo += self._join(group, self.find(other))
        self._late[self.find(group)] |= uses.late
        self._current.update(dict.fromkeys(uses.bound, group))
        return group

    def _join(self, group: int, other: int) -> set[str]:
        """Make two groups one; the names that functions of the other read when they are called."""
        group = self.find(group)
        late = self._late[other]
        if other != group:
            self._parents[group] = other
            late |= self._late.pop(group)
        return late


class _Uses:
    """The names that a statement reads before it binds them, those that it binds first, and
    those that the functions in it read when they are called."""

    def __init__(self, statement: ast.stmt) -> None:
        self._first: dict[str, bool] = {}
        self.late: set[str] = set()
        self._visit(statement)
        self.read = {name for name, is_read in self._first.items() if is_read}
        self.bound = {name for name, is_read in self._first.items() if not is_read}

    def _note(self, names: Iterable[str], *, read: bool) -> None:
        for name in names:
            self._first.setdefault(name, read)

    def _visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self._first.setdefault(node.id, not isinstance(node.ctx, ast.Store))
        elif isinstance(node, _NAMING):
            self._visit_naming(node)
        else:
            for child in _in_order(node) if isinstance(node, _GIVING) else children(node):
                self._visit(child)

    def _visit_naming(self, node: ast.AST) -> None:
        """Visit nodes with names of their own, or that bind names without a `Name`."""
        match node:
            case ast.alias(name=name, asname=asname):
                self._note([asname or name.partition(".")[0]], read=False)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.late |= _free(node)
                self._note([name], read=False)
            case ast.ClassDef(name=name):
                self._note(_free(node), read=True)
                self.late |= _free(node)
                self._note([name], read=False)
            case ast.Lambda():
                self.late |= _free(node)
            case _:
                self._note(_free(node), read=True)


def _in_order(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node in evaluation order: values before their targets."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [value, *targets]
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return [ast.Name(name, ast.Load()), value]
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            return [*([value] if value is not None else []), target]
        case ast.For(target=target, iter=source, body=body, orelse=other):
            return [source, target, *body, *other]
    return children(node)


@remembered
def _free(scope: ast.AST) -> frozenset[str]:
    """Return the free names of a function, a class or a comprehension."""
    read, bound = set[str](), set[str]()
    for node in walk_scope(scope):
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else read).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, _SCOPES):
            read |= _free(node)
            bound.add(getattr(node, "name", ""))
    outer = declared_outer(scope)
    return frozenset(read - (bound - outer) | outer)
