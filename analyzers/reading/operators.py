"""Operations on graphs: what an operator or a named operation makes of its operands."""

from __future__ import annotations

import ast

from analyzers.reading import gradients, shapes
from analyzers.reading.conditions import key_of, truth, unknown
from analyzers.reading.dispatch import expression
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import GradientValue
from analyzers.reading.value_graphs import joined, lost_by, maybe_graph, origins
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Const,
    Instance,
    Sequence,
    Shape,
    Unknown,
)
from analyzers.source import ops

NAMES: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "logical_and",
    ast.BitOr: "logical_or",
    ast.BitXor: "logical_xor",
}
_PLAIN = frozenset({AbstractTensor, Const})
IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
DUNDERS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
MAX_NUMBER = 10**12
MAX_ITEMS = 200


def name_of(operator: ast.operator) -> str:
    """Return the operation of an operator."""
    return NAMES.get(type(operator), "unknown")


def operate(
    machine: Machine,
    name: str,
    values: list[AbstractValue],
    frame: InterpreterFrame,
    scalar: bool | None = None,
    shape: Shape | None = None,
) -> AbstractValue:
    """Return the result of a named differentiable operation."""
    gradients.computed(machine, values, frame)
    result = _computed(machine, name, values, frame, scalar)
    if isinstance(result, AbstractTensor):
        known = () if scalar else shape
        shapes.give(result, known if known is not None else shapes.result(name, values))
    return result


def _computed(
    machine: Machine,
    name: str,
    values: list[AbstractValue],
    frame: InterpreterFrame,
    scalar: bool | None,
) -> AbstractValue:
    parents, ended = origins(values)
    if parents:
        kind = ops.op(name)
        result = machine.tensor(name, parents, frame, kind.saves, scalar, ended)
        if result.node is not None:
            _save(result, kind, values)
        if name in ops.VIEWS and isinstance(values[0], AbstractTensor):
            result.storage = values[0].storage
            result.view = True
            result.siblings = name in ops.MULTI_VIEWS
        return result
    if name in ops.VIEWS and isinstance(values[0], AbstractTensor):
        return AbstractTensor(storage=values[0].storage, scalar=scalar, lost=values[0].lost)
    lost = joined(ended)
    if not maybe_graph(values) or (lost is not None and machine.suspecting == "no-grad"):
        return AbstractTensor(scalar=scalar, lost=lost)
    result = machine.tensor(name, (), frame, ops.op(name).saves, ended=ended)
    return Unknown(name, result.node, lost=result.lost)


def _save(result: AbstractTensor, kind: ops.Op, values: list[AbstractValue]) -> None:
    """Note which memory the new node needs unchanged."""
    assert result.node is not None
    saved = result.node.saved
    if kind.result:
        saved.append((result.storage, result.storage.version))
    if kind.inputs:
        graphs = len([value for value in values if value.node is not None])
        alone = len(values) == 1 or not isinstance(values[-1], AbstractTensor)
        for value in values:
            if not isinstance(value, AbstractTensor):
                continue
            others = graphs - (value.node is not None)
            if others or (alone and not kind.bilinear):
                saved.append((value.storage, value.storage.version))


def binary(
    machine: Machine,
    operator: ast.operator,
    left: AbstractValue,
    right: AbstractValue,
    frame: InterpreterFrame,
) -> AbstractValue:
    """Return `left op right`."""
    if isinstance(left, Const) and isinstance(right, Const):
        return _arithmetic(operator, left.value, right.value)
    if type(left) in _PLAIN and type(right) in _PLAIN:
        return _of_tensors(machine, operator, left, right, frame)
    if isinstance(left, Instance) or isinstance(right, Instance):
        dunder = DUNDERS.get(type(operator), "")
        for value, other, name in ((left, right, f"__{dunder}__"), (right, left, f"__r{dunder}__")):
            if isinstance(value, Instance) and value.cls.lookup(name) is not None:
                return machine.invoke(value, name, [other], frame)
    gradient = _by_gradient(machine, operator, left, right, frame)
    if gradient is not None:
        return gradient
    if isinstance(left, Sequence):
        if isinstance(right, Sequence):
            items = [*left.items, *right.items]
            open_ = left.open or right.open or len(items) > MAX_ITEMS
            return Sequence(items[-MAX_ITEMS:], left.kind, open_)
        if isinstance(operator, ast.Mult):
            return Sequence(list(left.items), left.kind, open_=True)
    if isinstance(left, Unknown | Const) and isinstance(right, Unknown | Const):
        if left.node is None and right.node is None:
            return _unknown_arithmetic(operator, left, right)
    return _of_tensors(machine, operator, left, right, frame)


def _of_tensors(
    machine: Machine,
    operator: ast.operator,
    left: AbstractValue,
    right: AbstractValue,
    frame: InterpreterFrame,
) -> AbstractValue:
    scalar = None if isinstance(operator, ast.MatMult) else _scalar(left, right)
    return operate(machine, name_of(operator), [left, right], frame, scalar)


def _by_gradient(
    machine: Machine,
    operator: ast.operator,
    left: AbstractValue,
    right: AbstractValue,
    frame: InterpreterFrame,
) -> AbstractValue | None:
    """Return arithmetic with `p.grad`, or None if no operand is a gradient.

    Gradients alone give a gradient; together with a graph the result is a manual update, which is
    no leaf any more.
    """
    if not isinstance(left, GradientValue) and not isinstance(right, GradientValue):
        return None
    other = right if isinstance(left, GradientValue) else left
    if other.node is None:
        return of_gradients(machine, [left, right], frame)
    result = operate(machine, name_of(operator), [left, right], frame)
    if isinstance(result, AbstractTensor) and result.node is not None:
        result.grad_cut = Lost("rebound", frame.place())
    return result


def of_gradients(
    machine: Machine, values: list[AbstractValue], frame: InterpreterFrame
) -> GradientValue:
    """Return the result of a computation with at least one gradient."""
    leaf = next(value.leaf for value in values if isinstance(value, GradientValue))
    taken = gradients.computed(machine, values, frame)
    return GradientValue(leaf, taken, len(machine.tape.calls))


def _scalar(left: AbstractValue, right: AbstractValue) -> bool | None:
    one, other = _is_scalar(left), _is_scalar(right)
    if one is False or other is False:
        return False
    return True if one and other else None


def _is_scalar(value: AbstractValue) -> bool | None:
    if isinstance(value, AbstractTensor):
        return value.scalar
    return True if isinstance(value, Const) else None


def _unknown_arithmetic(
    operator: ast.operator, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    data = all(isinstance(v, Const) or (isinstance(v, Unknown) and v.data) for v in (left, right))
    result = Unknown(data=data, lost=lost_by((left, right)))
    result.key = (name_of(operator), key_of(left), key_of(right))
    return result


def _arithmetic(operator: ast.operator, left: object, right: object) -> AbstractValue:
    """Return exact arithmetic on small numbers and joined strings; anything else is unknown."""
    if isinstance(left, str) and isinstance(right, str) and isinstance(operator, ast.Add):
        return Const(left + right) if len(left) + len(right) < 4096 else Unknown(data=True)
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return Unknown(data=True)
    if abs(left) > MAX_NUMBER or abs(right) > MAX_NUMBER:
        return Unknown(data=True)
    try:
        match operator:
            case ast.Add():
                return Const(left + right)
            case ast.Sub():
                return Const(left - right)
            case ast.Mult():
                return Const(left * right)
            case ast.Div():
                return Const(left / right)
            case ast.FloorDiv():
                return Const(left // right)
            case ast.Mod():
                return Const(left % right)
            case ast.Pow() if abs(right) <= 16 and abs(left) <= 1024:
                return Const(left**right)
    except (ZeroDivisionError, OverflowError, ValueError):
        pass
    return Unknown(data=True)


@expression(ast.BinOp)
def _binary(machine: Machine, node: ast.BinOp, frame: InterpreterFrame) -> AbstractValue:
    left = machine.evaluate(node.left, frame)
    right = machine.evaluate(node.right, frame)
    return binary(machine, node.op, left, right, frame)


@expression(ast.UnaryOp)
def _unary(machine: Machine, node: ast.UnaryOp, frame: InterpreterFrame) -> AbstractValue:
    value = machine.evaluate(node.operand, frame)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return unknown("not", key_of(value)) if known is None else Const(not known)
    if isinstance(value, Const):
        number = value.value
        if isinstance(node.op, ast.USub) and isinstance(number, int | float):
            return Const(-number)
        return value
    if isinstance(value, Instance):
        return machine.invoke(value, "__neg__", [], frame)
    if isinstance(value, Unknown) and value.node is None:
        return Unknown(data=value.data, lost=value.lost)
    scalar = value.scalar if isinstance(value, AbstractTensor) else None
    return operate(machine, "neg", [value], frame, scalar)
