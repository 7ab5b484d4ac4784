"""Spell what an update gives a parameter, as a value of a graph."""

from __future__ import annotations

import ast

from analyzers.repair.blocks import text_with
from analyzers.repair.leaf.leaves import SIGNS
from analyzers.source.edits import Editor, needs_parentheses
from analyzers.source.project import spelled
from analyzers.source.trees import nodes_of

_ADDING = {"sub_": "-", "add_": "+"}


def new_value(statement: ast.stmt, own: str, editor: Editor) -> str | None:
    """Return what a statement makes of a parameter: `p - lr * g` for `p.data -= lr * g`."""
    match statement:
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in SIGNS:
            text = f"{own} {SIGNS[type(op)]} {operand(value, editor)}"
        case ast.Assign(targets=[target], value=value):
            text = _of_graph(value, own, editor)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[value])):
            text = _of_graph(value, own, editor)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=target, attr=verb), args=[value], keywords=more)
        ) if verb in _ADDING:
            factors = [one.value for one in more if one.arg == "alpha"]
            product = " * ".join(operand(one, editor) for one in [*factors, value])
            text = f"{own} {_ADDING[verb]} {product}"
        case _:
            return None
    return text if spelled(target).removesuffix(".data") == own else None


def operand(value: ast.expr, editor: Editor) -> str:
    """Return an expression as the right side of a sum or a product."""
    plain = isinstance(value, ast.BinOp) and not isinstance(value.op, ast.Add | ast.Sub)
    text = editor.text_of(value)
    return text if plain or not needs_parentheses(value) else f"({text})"


def _of_graph(value: ast.expr, own: str, editor: Editor) -> str:
    """Return an expression that reads the parameter itself instead of its `.data`."""
    data = [n for n in nodes_of(value, ast.expr) if spelled(n) == f"{own}.data"]
    return text_with(editor, value, [editor.replace(n, own) for n in data])
