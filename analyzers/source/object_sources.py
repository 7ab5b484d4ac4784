"""Find what may have created the object that an expression denotes.

Followed are names to their bindings, attributes of the file's own objects, items of containers,
results of the file's own functions, and parameters to the arguments of calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analyzers.source.name_resolution import Names
from analyzers.source.scope_bindings import PARAMETER, ScopeBinding

DEPTH = 8  # bindings that are followed one after another
BUDGET = 500  # bindings that are followed for one question
_COPIES = ("copy.deepcopy", "copy.copy")

Made = tuple[str, ast.expr]  # the qualified name of what was called, and the call


class Makers:
    """Find what creates the objects of one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._left = BUDGET

    def of(self, node: ast.expr, depth: int = DEPTH) -> Iterator[Made]:
        """Yield what may have created the object that an expression denotes: the qualified name of
        the callee and the call; for anything else an empty name and the expression.
        """
        self._left = BUDGET if depth == DEPTH else self._left - 1
        if depth <= 0 or self._left <= 0:
            return
        match node:
            case ast.Name() if depth == DEPTH:
                yield from self._all_made_by_name(node)
            case ast.Name():
                yield from self._made_by_name(node, depth)
            case ast.Attribute(value=value, attr=attr):
                held = self._held_as(value, attr, depth)
                for binding in held:
                    yield from self._made_by(binding, depth)
                if not held:
                    yield "", node
            case ast.IfExp(body=one, orelse=other):
                yield from self.of(one, depth - 1)
                yield from self.of(other, depth - 1)
            case ast.Subscript(value=value):
                yield from self._items(value, (-1,), depth)
            case ast.Call(func=func, args=[first, *_]) if self._names.qualified(func) in _COPIES:
                yield from self.of(first, depth - 1)
            case ast.Call(func=func):
                path = self._names.qualified(func)
                yield from self._returned(path, func, depth) or [(path, node)]
            case _:
                yield "", node

    def _all_made_by_name(self, node: ast.Name) -> list[Made]:
        """Return what all questions for a name give, unless it is a parameter or not bound."""
        _, found = self._names.bindings(node) or (None, [])
        if not found or any(binding.path == PARAMETER for binding in found):
            return list(self._made_by_name(node, DEPTH))
        made = self._names.made  # a name has one list of bindings in a scope
        if id(found) not in made:
            made[id(found)] = list(self._made_by_name(node, DEPTH))
        return made[id(found)]

    def _made_by_name(self, node: ast.Name, depth: int) -> Iterator[Made]:
        scope, found = self._names.bindings(node) or (None, [])
        for binding in found:
            if binding.path == PARAMETER:
                yield from self._given(scope, node, depth)
            else:
                yield from self._made_by(binding, depth)
        if not found:
            yield "", node

    def _made_by(self, binding: ScopeBinding, depth: int) -> Iterator[Made]:
        if binding.value is not None:
            yield from self._items(binding.value, binding.item, depth)
        elif binding.annotation is not None:
            yield self._names.qualified(_declared(binding.annotation)), binding.annotation

    def _held_as(self, owner: ast.expr, attr: str, depth: int) -> list[ScopeBinding]:
        """Return what the methods of a class of the file bind to an attribute."""
        paths = [path for path, _ in self.of(owner, depth - 1) if path.startswith(".")]
        classes = [own for path in paths if (own := self._names.own_class(path)) is not None]
        return [binding for own in classes for binding in self._names.held(own, attr)]

    def _items(self, value: ast.expr, places: tuple[int, ...], depth: int) -> Iterator[Made]:
        """Yield what may have created an item of a sequence or a dictionary, or an item of that."""
        if not places:
            yield from self.of(value, depth - 1)
            return
        place, *rest = places
        for path, made in self.of(value, depth - 1) if depth else ():
            match made:
                case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
                    held = items[place : place + 1] if place >= 0 else items
                case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) | ast.DictComp(value=item):
                    held = [item]
                case ast.Call(args=given) if path.endswith(".prepare") or not path:
                    held = given[place : place + 1] if place >= 0 else given
                case _:
                    held = []
            for item in held:
                yield from self._items(item, (*rest,), depth - 1)
            if not held:  # a container holds what is stored later, a function may return several
                last = path.rpartition(".")[2]
                is_container = path[:1] == "." or last[:1].isupper() or last == "deque"
                yield "" if is_container else path, value

    def _returned(self, path: str, func: ast.expr, depth: int) -> list[Made]:
        """Return what a function of the file returns, or its only method of a name."""
        found = list[Made]()
        name = path[1:] if path.startswith(".") else ""
        if not path and isinstance(func, ast.Attribute):
            name = func.attr
        definitions = self._names.definitions(name)
        for definition in definitions if len(definitions) == 1 and depth > 1 else ():
            if not isinstance(definition, ast.ClassDef):
                for value in self._names.home(definition).returned.get(definition, ()):
                    found += self.of(value, depth - 1)
        return found

    def _given(self, scope: ast.AST | None, parameter: ast.Name, depth: int) -> Iterator[Made]:
        """Yield the arguments that calls pass for a parameter of the file's function; else its
        annotation.
        """
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "", parameter
            return
        arguments = [*scope.args.posonlyargs, *scope.args.args]
        names = [argument.arg for argument in arguments]
        owner = self._names.home(scope).around.get(scope)
        within = isinstance(owner, ast.ClassDef)
        called = scope.name
        if isinstance(owner, ast.ClassDef) and called == "__init__":
            called = owner.name
        if isinstance(owner, ast.ClassDef) and parameter.id in names[:1] and not _is_static(scope):
            yield f".{owner.name}", parameter
            return
        found = False
        every = (call for one in self._names.everywhere() for call in one.calls.get(called, ()))
        for call in every:
            for given in _given_for(call, names[within:], parameter.id):
                found = True
                yield from self.of(given, depth - 1)
        for argument in (*arguments, *scope.args.kwonlyargs):
            if argument.arg == parameter.id and argument.annotation is not None:
                if path := self._names.qualified(_declared(argument.annotation)):
                    found = True
                    yield path, argument.annotation
        if not found:
            yield "", parameter


def _is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = (d for d in function.decorator_list if isinstance(d, ast.Name))
    return any(decorator.id == "staticmethod" for decorator in decorators)


def _declared(annotation: ast.expr) -> ast.expr:
    """Return the class in `Optional[Net]` and `Net | None`."""
    match annotation:
        case ast.Subscript(
            value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=of
        ):
            return of
        case ast.BinOp(left=of, op=ast.BitOr(), right=ast.Constant(value=None)):
            return of
    return annotation


def _given_for(call: ast.Call, names: list[str], name: str) -> Iterator[ast.expr]:
    for keyword in call.keywords:
        if keyword.arg == name:
            yield keyword.value
    place = names.index(name) if name in names else len(call.args)
    if place < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args):
        yield call.args[place]
