"""Differentiate the expression of an operation, as source code."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping

_BY_CALL: Mapping[str, str] = {
    "exp": "{result}",
    "log": "1 / {argument}",
    "tanh": "1 - {result} ** 2",
    "sqrt": "1 / (2 * {result})",
    "sin": "{function}cos({argument})",
    "cos": "-{function}sin({argument})",
}
"""The derivative of a function of one argument, in terms of it, of the result, and of the module
that the function is of."""
_RELU = ("max", "maximum")
_OPEN = (ast.BinOp, ast.IfExp, ast.Compare, ast.Lambda, ast.BoolOp)
_ZERO, _ONE = ast.Constant(0), ast.Constant(1)


def derivative(
    expression: ast.expr, variable: str, meant: Callable[[ast.expr], tuple[ast.expr, ast.expr]]
) -> ast.expr | None:
    """Return the derivative of an expression by a variable (`self.data`), simplified; None if it
    is none of these operators and functions.

    `meant` returns what a name is bound to, and the shortest expression of a part's value.
    """
    whole, name = meant(expression)
    if ast.unparse(expression) == variable or ast.unparse(whole) == variable:
        return _ONE
    if not any(ast.unparse(node) == variable for node in _parts(whole, meant)):
        return _ZERO
    match whole:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            of = derivative(inner, variable, meant)
            return _negative(of) if of is not None else None
        case ast.BinOp() if (argument := _of_sigmoid(whole)) is not None:
            less, of = ast.BinOp(_ONE, ast.Sub(), name), derivative(argument, variable, meant)
            return _times(_times(name, less), of) if of is not None else None
        case ast.BinOp(left=left, op=op, right=right):
            one, two = derivative(left, variable, meant), derivative(right, variable, meant)
            return _combined(op, left, right, one, two) if one and two else None
        case ast.Call(
            func=function,
            args=[ast.Constant(value=0), argument] | [argument, ast.Constant(value=0)],
        ) if ast.unparse(function).rpartition(".")[2] in _RELU:
            above = ast.Compare(argument, [ast.Gt()], [_ZERO])
            of = derivative(argument, variable, meant)
            return _times(above, of) if of is not None else None
        case ast.Call(func=ast.Attribute(value=argument, attr="sum" | "mean" as how), args=[]) | (
            ast.Call(func=ast.Attribute(attr="sum" | "mean" as how), args=[argument])
        ) if not whole.keywords:
            of = derivative(argument, variable, meant)
            size = ast.Attribute(_base(argument), "size")
            return ast.BinOp(of, ast.Div(), size) if of and how == "mean" else of
        case ast.IfExp(test=test, body=body, orelse=other):
            one, two = derivative(body, variable, meant), derivative(other, variable, meant)
            return ast.IfExp(test, one, two) if one and two else None
        case ast.Call(func=function, args=[argument], keywords=[]):
            outer, of = _of_call(function, argument, name), derivative(argument, variable, meant)
            return _times(outer, of) if outer is not None and of is not None else None
    return None


def product(derived: ast.expr, given: str) -> str | None:
    """Return a derivative times the gradient of the result; None for one that is zero."""
    text = ast.unparse(derived)
    if text == "0":
        return None
    return text.replace("1", given) if text in ("1", "-1") else f"{factor(derived, text)} * {given}"


def factor(node: ast.expr, text: str) -> str:
    """Return the text of an expression as a factor: in parentheses where it needs them."""
    multiplies = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.Pow)
    return text if multiplies or not isinstance(node, _OPEN) else f"({text})"


def of_matrix_product(expression: ast.expr, variable: str, given: str) -> str | None:
    """Return the gradient of a factor of a matrix product, whose own gradient is `given`, in the
    form of that product; None where the variable is no factor of one."""
    match expression:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            form = "{} @ {}"
        case ast.Call(func=ast.Attribute(attr="matmul" | "dot") as function, args=[left, right]):
            form = f"{ast.unparse(function)}({{}}, {{}})"
        case ast.Call(func=ast.Attribute(value=left, attr="dot"), args=[right]):
            form = "{}.dot({})"
        case _:
            return None
    one, two = ast.unparse(left), ast.unparse(right)
    if one == variable:
        return form.format(given, f"{two}.T")
    return form.format(f"{one}.T", given) if two == variable else None


def _base(expression: ast.expr) -> ast.expr:
    """Return the base of a power: it has as many entries."""
    match expression:
        case ast.BinOp(left=base, op=ast.Pow()):
            return base
    return expression


def _of_sigmoid(whole: ast.expr) -> ast.expr | None:
    """Return `u` of `1 / (1 + exp(-u))`; None for another expression."""
    match whole:
        case ast.BinOp(
            left=ast.Constant(value=1),
            op=ast.Div(),
            right=ast.BinOp(
                left=ast.Constant(value=1),
                op=ast.Add(),
                right=ast.Call(func=function, args=[ast.UnaryOp(op=ast.USub(), operand=inner)]),
            ),
        ) if ast.unparse(function).rpartition(".")[2] == "exp":
            return inner
    return None


def _parts(
    node: ast.expr, meant: Callable[[ast.expr], tuple[ast.expr, ast.expr]]
) -> list[ast.expr]:
    found = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    named = [meant(part)[0] for part in found if isinstance(part, ast.Name)]
    return found + [part for one in named for part in ast.walk(one) if isinstance(part, ast.expr)]


def _combined(
    op: ast.operator, left: ast.expr, right: ast.expr, one: ast.expr, two: ast.expr
) -> ast.expr | None:
    match op:
        case ast.Add():
            return _sum(one, two)
        case ast.Sub():
            return _sum(one, _negative(two))
        case ast.Mult():
            return _sum(_times(right, one), _times(left, two))
        case ast.Div():
            by_right = _negative(ast.BinOp(left, ast.Div(), _power(right, 2)))
            over = ast.BinOp(_ONE, ast.Div(), right)
            return _sum(_times(over, one), _times(by_right, two))
        case ast.Pow() if _is(two, 0):
            less = _minus_one(right)
            lowered = left if _is(less, 1) else ast.BinOp(left, ast.Pow(), less)
            return _times(_times(right, lowered), one)
    return None


def _of_call(function: ast.expr, argument: ast.expr, result: ast.expr) -> ast.expr | None:
    spelled = ast.unparse(function)
    module, _, name = spelled.rpartition(".")
    if name not in _BY_CALL or not hasattr(math, name):
        return None
    value = ast.unparse(result) if isinstance(result, ast.Name | ast.Attribute | ast.Call) else ""
    text = _BY_CALL[name].format(
        result=value or f"({ast.unparse(result)})",
        argument=f"({ast.unparse(argument)})",
        function=f"{module}." if module else "",
    )
    return ast.parse(text, mode="eval").body


def _sum(one: ast.expr, two: ast.expr) -> ast.expr:
    if _is(one, 0):
        return two
    return one if _is(two, 0) else ast.BinOp(one, ast.Add(), two)


def _times(one: ast.expr, two: ast.expr) -> ast.expr:
    if _is(one, 0) or _is(two, 0):
        return _ZERO
    if _is(one, 1):
        return two
    return one if _is(two, 1) else ast.BinOp(one, ast.Mult(), two)


def _negative(one: ast.expr) -> ast.expr:
    match one:
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(-value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return inner
    return ast.UnaryOp(ast.USub(), one)


def _power(base: ast.expr, exponent: int) -> ast.expr:
    return ast.BinOp(base, ast.Pow(), ast.Constant(exponent))


def _minus_one(one: ast.expr) -> ast.expr:
    match one:
        case ast.Constant(value=int() | float() as value):
            return ast.Constant(value - 1)
    return ast.BinOp(one, ast.Sub(), _ONE)


def _is(one: ast.expr, number: int) -> bool:
    return isinstance(one, ast.Constant) and one.value == number
