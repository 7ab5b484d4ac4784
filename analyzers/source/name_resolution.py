"""Resolve what names denote in a file: bindings by scope, qualified names, classes and methods.

A qualified name begins with a package (`torch.optim.Adam`) or, for what the file itself defines,
with a dot (`.Net`, `.Net.step`). If several bindings reach a name, all of them count: the order of
statements is ignored.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass

from analyzers.source.trees import children

Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
BASES = 8  # of a class that are followed
PARAMETER = "(parameter)"  # the path of a parameter's binding
_CONTAINERS = (ast.Tuple, ast.List, ast.Set)


@dataclass(frozen=True)
class ScopeBinding:
    """What a name is bound to in a scope: an import, a definition, a value, or an item of one.

    `item`: the position in a sequence from which the value is unpacked; -1 for any of its items.
    """

    path: str = ""
    definition: Def | None = None
    value: ast.expr | None = None
    item: int | None = None


class Names:
    """The bindings of one file, and what expressions in it denote."""

    def __init__(self, tree: ast.Module) -> None:
        self._scopes: dict[ast.AST, dict[str, list[ScopeBinding]]] = {}
        self.around: dict[ast.AST, ast.AST] = {}  # the scope of each call, name and definition
        self._outer: dict[ast.AST, ast.AST | None] = {tree: None}
        self.attributes: dict[ast.ClassDef, dict[str, list[ScopeBinding]]] = defaultdict(dict)
        self.calls: dict[str, list[ast.Call]] = defaultdict(list)
        self.returned: dict[ast.AST, list[ast.expr]] = defaultdict(list)  # that functions return
        self._enter(tree, tree)

    def _enter(self, scope: ast.AST, node: ast.AST) -> None:
        """Record the bindings below a node of a scope, and those of nested scopes."""
        pending = [node]
        while pending:
            one = pending.pop()
            self.around[one] = scope
            self._note(scope, one)
            inner = children(one)
            if isinstance(one, _SCOPES) and one is not scope:
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
                    self._bind(scope, name, ScopeBinding(item.name if item.asname else name))
            case ast.ImportFrom(module=module, names=names):
                for item in names:
                    path = f"{module or ''}.{item.name}"
                    self._bind(scope, item.asname or item.name, ScopeBinding(path))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._bind(scope, node.name, ScopeBinding(definition=node))
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(scope, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(scope, target, value)
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

    def _assign(
        self, scope: ast.AST, target: ast.expr, value: ast.expr, item: int | None = None
    ) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(scope, name, ScopeBinding(value=value, item=item))
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                if (owner := self.class_around(scope)) is not None:
                    binding = ScopeBinding(value=value, item=item)
                    self.attributes[owner].setdefault(attr, []).append(binding)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = value.elts if isinstance(value, _CONTAINERS) else []
                for place, one in enumerate(targets):
                    if len(parts) == len(targets):
                        self._assign(scope, one, parts[place])
                    else:
                        self._assign(scope, one, value, place)

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
                self._assign(scope, target, held, -1)
            case _:
                self._assign(scope, target, source, -1)

    def _parameters(self, scope: ast.AST) -> None:
        """Bind parameters to their annotations; arguments of calls are looked up later."""
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = scope.args
            for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                self._bind(scope, argument.arg, ScopeBinding(PARAMETER))

    def _bind(self, scope: ast.AST, name: str, binding: ScopeBinding) -> None:
        self._scopes.setdefault(scope, {}).setdefault(name, []).append(binding)

    def class_around(self, scope: ast.AST | None) -> ast.ClassDef | None:
        """Return the innermost class around a scope, or the scope itself."""
        while scope is not None and not isinstance(scope, ast.ClassDef):
            scope = self._outer.get(scope)
        return scope

    def bindings(self, name: ast.Name) -> tuple[ast.AST, list[ScopeBinding]] | None:
        """Return the scope in which a name is bound, as Python resolves it, and its bindings."""
        scope: ast.AST | None = self.around.get(name)
        first = True
        while scope is not None:
            found = self._scopes.get(scope, {}).get(name.id)
            if found is not None and (first or not isinstance(scope, ast.ClassDef)):
                return scope, found
            scope, first = self._outer.get(scope), False
        return None

    def qualified(self, node: ast.expr) -> str:
        """Return the qualified name of what an expression denotes, if it belongs to a package or to
        the file; empty if it is unknown.
        """
        match node:
            case ast.Name():
                _, found = self.bindings(node) or (None, [])
                paths = {_path(binding) for binding in found}
                return paths.pop() if len(paths) == 1 else ""
            case ast.Attribute(value=value, attr=attr):
                path = self.qualified(value)
                return f"{path}.{attr}" if path else ""
        return ""

    def defines(self, name: str) -> bool:
        """Return True if the file has a function or a method of this name."""
        return bool(self.definitions(name))

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
        """Return the functions and classes of a name, in any scope."""
        bound = [binding for bs in self._scopes.values() for binding in bs.get(name, ())]
        return [b.definition for b in bound if b.definition is not None] if name else []


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _path(binding: ScopeBinding) -> str:
    """Return the qualified name that a binding has; empty if it binds a value."""
    if binding.definition is not None:
        return f".{binding.definition.name}"
    return "" if binding.path == PARAMETER else binding.path
