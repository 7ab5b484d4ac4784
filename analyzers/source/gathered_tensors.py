"""Recognise tensors that gather others, as lists do: they begin empty and are joined to more."""

from __future__ import annotations

import ast

from analyzers.source.callees import is_call
from analyzers.source.flow import bindings
from analyzers.source.project import spelled

_MAKING = ("torch.empty", "torch.zeros", "torch.ones", "torch.rand", "torch.randn")
_JOINING = ("torch.cat", "torch.concat", "torch.hstack", "torch.vstack")


def is_empty(value: ast.expr) -> bool:
    """Return True if an expression makes a tensor without any entry: `torch.empty(0, 3)`."""
    match value:
        case ast.Call(args=given, keywords=named) if is_call(value, *_MAKING):
            sizes = [*given, *(k.value for k in named if k.arg == "size")]
            parts = [part for one in sizes for part in getattr(one, "elts", [one])]
            return any(isinstance(part, ast.Constant) and part.value == 0 for part in parts)
        case ast.Call(args=[] | [ast.List(elts=[])]):
            return is_call(value, "torch.tensor", "torch.Tensor", "torch.FloatTensor")
    return False


def joined_to(name: str, statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement joins to what a name holds: `y` of `x = torch.cat((x, y))`."""
    match statement:
        case ast.Assign(value=ast.Call(args=[ast.Tuple() | ast.List() as parts, *_]) as value):
            if bindings(statement) == [name] and is_call(value, *_JOINING):
                more = [one for one in parts.elts if spelled(one) != name]
                return more if len(more) < len(parts.elts) else []
    return []
