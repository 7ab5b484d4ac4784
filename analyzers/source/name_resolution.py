"""Resolve what names denote in a file: bindings by scope, qualified names, classes and methods.

A qualified name begins with a package (`torch.optim.Adam`) or, for what the script's files define,
with a dot (`.Net`, `.Net.step`). If several bindings reach a name, all of them count: the order of
statements is ignored.
"""

from __future__ import annotations

import ast
import weakref
from collections import defaultdict
from collections.abc import Mapping, Set

from analyzers.source.scope_bindings import PARAMETER, USUAL, Def, ScopeBinding, importable
from analyzers.source.trees import FIELDS, children

BASES = 8  # of a class that are followed
ALIASES = 4  # of a name that are followed: `a = b`
_CONTAINERS = (ast.Tuple, ast.List, ast.Set)


class Names:
    """The bindings of one file, and what expressions in it denote."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._self = weakref.ref(self)
        self._others: list[weakref.ref[Names]] = []  # of the other files
        self._files: Set[str] = frozenset()  # by which imports name them
        self._scopes: dict[ast.AST, dict[str, list[ScopeBinding]]] = {}
        self.around: dict[ast.AST, ast.AST] = {}  # the scope of each call, name and definition
        self._definitions: dict[str, list[Def]] = {}
        self._global: dict[ast.AST, set[str]] = defaultdict(set)
        self._outer: dict[ast.AST, ast.AST | None] = {tree: None}
        self.attributes: dict[ast.ClassDef, dict[str, list[ScopeBinding]]] = defaultdict(dict)
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)
        self.returned: dict[ast.AST, list[ast.expr]] = defaultdict(list)  # that functions return
        self.targets: dict[ast.Call, list[str | Def]] = {}  # what calls call, once it was asked
        self._denoted: dict[ast.Name, str] = {}  # qualified names that were asked
        self.made: dict[int, list[tuple[str, ast.expr]]] = {}  # what creates objects, by bindings
        self.imported: set[str] = set()  # the names that imports bind, in any scope
        self.taken_apart: set[ast.expr] = set()  # values that are unpacked or indexed
        self._enter(tree, tree)

    def _enter(self, scope: ast.AST, node: ast.AST) -> None:
        """Record the bindings below a node of a scope, and those of nested scopes."""
        pending = [node]
        while pending:
            one = pending.pop()
            self.around[one] = scope
            kind = type(one)
            if kind in _NOTED:
                self._note(scope, one)
            inner = children(one) if FIELDS[kind] else []
            if kind in _SCOPES and one is not scope:
                self._outer[one] = scope
                self._parameters(one)
                for child in inner:
                    self._enter(one, child)
            else:
                pending += reversed(inner)

    def _note(self, scope: ast.AST, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for item in names:
                    name = item.asname or item.name.partition(".")[0]
                    self.imported.add(name)
                    self._bind(scope, name, ScopeBinding(item.name if item.asname else name))
            case ast.ImportFrom(module=module, names=names):
                for item in names:
                    path = f"{module or ''}.{item.name}"
                    self.imported.add(item.asname or item.name)
                    self._bind(scope, item.asname or item.name, ScopeBinding(path))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._bind(scope, node.name, ScopeBinding(definition=node))
                self._definitions.setdefault(node.name, []).append(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(scope, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(scope, target, value)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                self._bind(scope, name, ScopeBinding(annotation=annotation))
            case ast.NamedExpr(target=target, value=value):
                self._assign(scope, target, value)
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._take(scope, target, value)
            case ast.comprehension(target=target, iter=value):
                self._take(scope, target, value)
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                self._assign(scope, target, value)
            case ast.Return(value=ast.expr() as value):
                self.returned[scope].append(value)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                self.calls[name].append(node)
                vars(node)[_NAMES] = self._self
            case ast.Call():
                vars(node)[_NAMES] = self._self
            case ast.Subscript(value=value):
                self.taken_apart.add(value)
            case ast.Global(names=names):
                for name in names:
                    self._global[scope].add(name)

    def _assign(
        self, scope: ast.AST, target: ast.expr, value: ast.expr, item: tuple[int, ...] = ()
    ) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(scope, name, ScopeBinding(value=value, item=item))
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                if (owner := self.class_around(scope)) is not None:
                    binding = ScopeBinding(value=value, item=item)
                    self.attributes[owner].setdefault(attr, []).append(binding)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.taken_apart.add(value)
                parts = value.elts if isinstance(value, _CONTAINERS) and not item else []
                for place, one in enumerate(targets):
                    if len(parts) == len(targets):
                        self._assign(scope, one, parts[place])
                    else:
                        self._assign(scope, one, value, (*item, place))

    def _take(self, scope: ast.AST, target: ast.expr, source: ast.expr) -> None:
        """Bind the targets of a loop over a source."""
        match target, source:
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
                for one, held in zip(targets, sources, strict=False):
                    self._take(scope, one, held)
            case (
                ast.Tuple(elts=[_, entry]),
                ast.Call(func=ast.Name(id="enumerate"), args=[held, *_])
                | ast.Call(func=ast.Attribute(value=held, attr="items")),
            ):
                self._take(scope, entry, held)
            case _, ast.Call(func=ast.Attribute(value=held, attr="values")):
                self._assign(scope, target, held, (-1,))
            case _:
                self._assign(scope, target, source, (-1,))

    def _parameters(self, scope: ast.AST) -> None:
        """Bind parameters to their annotations; arguments of calls are looked up later."""
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = scope.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
            for argument in filter(None, every):
                self._bind(scope, argument.arg, ScopeBinding(PARAMETER))

    def _bind(self, scope: ast.AST, name: str, binding: ScopeBinding) -> None:
        if name in self._global.get(scope, ()):
            scope = self._tree
        bound = self._scopes.setdefault(scope, {}).setdefault(name, [])
        if not binding.path or binding not in bound:
            bound.append(binding)

    def link(self, others: Mapping[str, Names]) -> None:
        """Let imports lead to the project's other files, given by their paths."""
        self._denoted.clear()
        self.made.clear()
        self._others = [weakref.ref(other) for other in others.values()]
        self._files = {name for path in others for name in importable(path)}

    def everywhere(self) -> list[Names]:
        """Return the bindings of this file and of the project's others."""
        return [self, *(other for kept in self._others if (other := kept()) is not None)]

    def home(self, node: ast.AST) -> Names:
        """Return the bindings of the file that contains a node."""
        if node in self.around or not self._others:
            return self
        return next((one for one in self.everywhere() if node in one.around), self)

    def class_around(self, scope: ast.AST | None) -> ast.ClassDef | None:
        """Return the innermost class around a scope, or the scope itself."""
        while scope is not None and not isinstance(scope, ast.ClassDef):
            scope = self._outer.get(scope)
        return scope

    def bindings(self, name: ast.Name) -> tuple[ast.AST, list[ScopeBinding]] | None:
        """Return the scope in which a name is bound, as Python resolves it, and its bindings."""
        if (home := self.home(name)) is not self:
            return home.bindings(name)
        scope: ast.AST | None = self.around.get(name)
        first = True
        while scope is not None:
            found = self._scopes.get(scope, {}).get(name.id)
            if found is not None and (first or not isinstance(scope, ast.ClassDef)):
                return scope, found
            scope, first = self._outer.get(scope), False
        return None

    def qualified(self, node: ast.expr | None, depth: int = ALIASES) -> str:
        """Return the qualified name of what an expression denotes, if it belongs to a package or to
        the file; empty if it is unknown.
        """
        if isinstance(node, ast.Name):
            if depth < ALIASES:
                return self._denotes(node, depth) if depth else ""
            if node not in self._denoted:
                self._denoted[node] = self._denotes(node, depth)
            return self._denoted[node]
        if isinstance(node, ast.Attribute):
            path = self.qualified(node.value, depth)
            return self._own(f"{path}.{node.attr}") if path else ""
        return ""

    def _denotes(self, name: ast.Name, depth: int) -> str:
        _, found = self.bindings(name) or (None, None)
        if found is None:
            return USUAL.get(name.id, "")
        paths = {self._path(binding, depth - 1) for binding in found}
        return paths.pop() if len(paths) == 1 else ""

    def _own(self, path: str) -> str:
        """Return `.Net` for `models.Net` if a file of the project defines that; else the path."""
        module, _, name = path.rpartition(".")
        return f".{name}" if module in self._files and self.definitions(name) else path

    def _path(self, binding: ScopeBinding, depth: int) -> str:
        """Return the qualified name that a binding has, through aliases; empty for other values."""
        if binding.definition is not None:
            return f".{binding.definition.name}"
        if binding.value is not None and not binding.item:
            return self.qualified(binding.value, depth)
        return "" if binding.path == PARAMETER else self._own(binding.path)

    def held(self, owner: ast.ClassDef, attr: str) -> list[ScopeBinding]:
        """Return what a class of the file and its bases in the file bind to an attribute."""
        bases = (self.own_class(path) for path in self.bases(owner) if path.startswith("."))
        every = [owner, *(base for base in bases if base is not None)]
        return [
            binding
            for one in every
            for home in (self.home(one),)
            for bound in (home.attributes[one], home._scopes.get(one, {}))
            for binding in bound.get(attr, ())
            if binding.definition is None
        ]

    def defines(self, name: str) -> bool:
        """Return True if the file has a function or a method of this name."""
        return name in self._definitions

    def own_class(self, path: str) -> ast.ClassDef | None:
        """Return the file's class that has this qualified name."""
        return next((d for d in self.definitions(path[1:]) if isinstance(d, ast.ClassDef)), None)

    def bases(self, owner: ast.ClassDef) -> list[str]:
        """Return the qualified names of a class's bases, transitively as far as the file defines
        them.
        """
        found, pending = list[str](), [owner]
        while pending and len(found) < BASES:
            for base in pending.pop().bases:
                path = self.qualified(base)
                found.append(path)
                if (own := self.own_class(path) if path.startswith(".") else None) is not None:
                    pending.append(own)
        return found

    def method(self, owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """Return a method of a class of the file, or of its bases in the file."""
        bases = (self.own_class(path) for path in self.bases(owner) if path.startswith("."))
        for one in (owner, *bases):
            for statement in one.body if one is not None else ():
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return statement
        return None

    def definitions(self, name: str) -> list[Def]:
        """Return the functions and classes of a name in any scope: of this file, else of others."""
        found = (one._definitions.get(name) for one in self.everywhere())
        return next(filter(None, found), [])


_NAMES = "names"  # of a call's file: a weak reference, or the tree would be part of a cycle
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_NOTED = frozenset(
    {ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign}
    | {ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem}
    | {ast.Return, ast.Call, ast.Subscript, ast.Global}
)


def names_of(call: ast.Call) -> Names | None:
    """Return the bindings of the file that contains a call; None if the call was not read from a
    file.
    """
    kept: weakref.ref[Names] | None = vars(call).get(_NAMES)
    return kept() if kept is not None else None
