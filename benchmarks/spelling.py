"""Decide whether a function of the analyzers decides by a spelling: by the text of a user's name.

It does if it

- calls `plain_name`, the last part of what is called;
- matches a regular expression;
- has a fixed text among the patterns of an `ast.Name` or `ast.Attribute` in a `match`; or
- compares the text of a name (`spelled(node)`, `node.attr`, `node.id`) with a fixed one: a literal
  or a constant.

Two names of the script compared with each other are no such decision, nor is a qualified name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_TEXTS = ("spelled", "plain_name", "called_name")
_BY_NAME = ("plain_name", "called_name", "calls_named", "calls_in", "owners")
_LITERALS = ("True", "False", "None")  # `spelled(node) == "True"` asks for no name


def decides_by_spelling(function: ast.AST) -> bool:
    """Return True if a function compares the text of a name in the user's code with a fixed one."""
    texts = set(_bound_to_texts(function))
    return any(_decides(node, texts) for node in ast.walk(function))


def _decides(node: ast.AST, texts: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _BY_NAME
        case ast.Call(func=ast.Attribute(attr="fullmatch" | "search" | "match")):
            return True
        case ast.Call(func=ast.Attribute(value=of, attr="startswith" | "endswith"), args=[other]):
            return _is_text(of, texts) and _is_fixed(other)
        case ast.Compare(left=left, comparators=[right]):
            pairs = ((left, right), (right, left))
            return any(_is_text(text, texts) and _is_fixed(fixed) for text, fixed in pairs)
        case ast.MatchClass(cls=ast.Attribute(attr="Name" | "Attribute"), kwd_patterns=patterns):
            return any(isinstance(part, ast.MatchValue | ast.MatchOr) for part in patterns)
    return False


def _is_text(node: ast.expr, texts: set[str]) -> bool:
    """Return True if an expression is the text of a name, or a part of it."""
    match node:
        case ast.Name(id=name):
            return name in texts
        case ast.Call(func=ast.Name(id=name)):
            return name in _TEXTS
        case ast.Attribute(attr="attr" | "id"):
            return True
        case ast.Call(func=ast.Attribute(value=of)) | ast.Subscript(value=of):
            return _is_text(of, texts)  # `spelled(node).lower()`, `.rpartition(".")[2]`
    return False


def _is_fixed(node: ast.expr) -> bool:
    """Return True for a text, a constant, or a collection that has one."""
    match node:
        case ast.Constant(value=str(text)):
            return text not in _LITERALS
        case ast.Name(id=name):
            return name.lstrip("_").isupper()
        case ast.Tuple(elts=items) | ast.Set(elts=items) | ast.List(elts=items):
            return any(map(_is_fixed, items))
        case ast.Starred(value=of):
            return _is_fixed(of)
        case ast.BinOp(left=left, right=right):
            return _is_fixed(left) or _is_fixed(right)
    return False


def _bound_to_texts(function: ast.AST) -> Iterator[str]:
    """Yield the local names that hold the text of a name."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if _is_text(value, set()):
                    yield name
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name) and _is_text(value, set()):
                        yield target.id
            case ast.MatchClass(cls=ast.Attribute(attr="Name" | "Attribute")):
                for kind, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
                    if kind in ("id", "attr") and isinstance(part, ast.MatchAs) and part.name:
                        yield part.name
