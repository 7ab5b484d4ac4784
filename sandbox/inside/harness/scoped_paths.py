"""Spells the values of expressions as paths, by what is bound where.

A value is known by its path: `netD`, `self.opt`, `loader[]` (an item), `rnn()` (what a call
gives), `rnn()[1]` (the second of the parts that a call gives). A name that is bound to such a
value is another word for its path.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from .uses import BUILTIN, SAME, WRAPPERS, ValueUse, bound, item, last_name


class ScopedPaths:
    """The paths of values, and what is done to each, in the scopes that a visitor opens."""

    def __init__(self) -> None:
        self._aliases: dict[str, str] = {}  # of attributes, which one method sets for another

    def begin(self, tree: ast.Module) -> None:
        """Forget all uses; aliases stay."""
        self.of: dict[str, ValueUse] = defaultdict(ValueUse)
        self.at: dict[int, list[str]] = defaultdict(list)
        self._scopes: list[dict[str, str | None]] = [{}]
        self._known = bound(tree.body)

    def path(self, node: ast.expr) -> str | None:
        """Return the path of an expression's value; None for what the script defines itself."""
        match node:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=value, attr=attr):
                inner = self.path(value)
                if inner is None or attr == "data":
                    return inner
                return self._aliased(f"{inner}.{attr}")
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self.path(value)  # a part of several is as all of them
            case ast.Subscript(value=value, slice=key):
                inner = self.path(value)
                return None if inner is None else self._aliased(inner + item(key))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in SAME:
                return self.path(value)
            case ast.Call(func=ast.Attribute(value=func, attr="forward")):
                inner = self.path(func)
                return None if inner is None else f"{inner}()"
            case ast.Call(func=func, args=[first, *_]) if last_name(func) in WRAPPERS:
                return self.path(first)
            case ast.Call(func=ast.Name(id="next"), args=[first, *_]):
                inner = self.path(first)
                return None if inner is None else f"{inner}[]"
            case ast.Call(func=func):
                inner = self.path(func)
                return None if inner is None else f"{inner}()"
            case ast.Await(value=value) | ast.Starred(value=value):
                return self.path(value)
            case ast.DictComp(key=ast.Name(id=key), value=value, generators=[along]):
                match along:
                    case ast.comprehension(
                        target=ast.Tuple(elts=[ast.Name(id=own), ast.Name(id=name)]),
                        iter=ast.Call(func=ast.Attribute(value=held, attr="items")),
                        ifs=[],
                    ) if key == own and _is_same(value, name):
                        return self.path(held)
            case ast.ListComp(elt=value, generators=[along]):
                match along:
                    case ast.comprehension(target=ast.Name(id=name), iter=held, ifs=[]):
                        return self.path(held) if _is_same(value, name) else None
        return None

    def _aliased(self, path: str) -> str:
        """Return the path of the value that the script has stored there; else the path itself."""
        return self._aliases.get(path, path)

    def _named(self, name: str) -> str | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if len(self._scopes) > 1 and name in self._known:
            return None  # bound somewhere in the text, by the time a function runs
        return None if name in BUILTIN else name

    def use(self, node: ast.expr) -> ValueUse | None:
        """Return what is done to the value of an expression, and note its line."""
        path = self.path(node)
        if path is None:
            return None
        if path not in self.at[node.lineno]:
            self.at[node.lineno].append(path)
        return self.of[path]


def _is_same(value: ast.expr, name: str) -> bool:
    """Return True if an expression is the value of a name: itself, moved, or a view."""
    match value:
        case ast.Name(id=own):
            return own == name
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr in SAME:
            return _is_same(inner, name)
        case ast.IfExp(body=one, orelse=other):
            return _is_same(one, name) and _is_same(other, name)
    return False
