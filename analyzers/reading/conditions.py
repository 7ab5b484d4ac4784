"""Conditions: decided where the operands are known, assumed consistently where they are not."""

from __future__ import annotations

import ast

from analyzers.reading.dispatch import expression
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import GradientValue, Layer, OptimizerValue
from analyzers.reading.values import (
    AbstractTensor,
    AbstractValue,
    Bound,
    Class,
    Const,
    FunctionValue,
    Instance,
    Library,
    Mapping,
    MethodValue,
    Sequence,
    Unknown,
)

_JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_ALWAYS_TRUE = (
    FunctionValue,
    Bound,
    Class,
    Instance,
    Layer,
    Library,
    MethodValue,
    OptimizerValue,
    GradientValue,
)


def truth(value: AbstractValue) -> bool | None:
    """Return the truth of a value; None if it is not known."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Sequence):
        return True if value.items else None if value.open else False
    if isinstance(value, Mapping):
        return bool(value.items or value.rest)
    if isinstance(value, _ALWAYS_TRUE):
        return True
    return None


def key_of(value: AbstractValue) -> object:
    """Return what identifies a value in assumptions: the same key means the same outcome."""
    if isinstance(value, Const):
        return ("const", value.value)
    if isinstance(value, Unknown):
        return value.key
    return ("value", id(value))


def unknown(*parts: object) -> Unknown:
    """Return an unknown outcome that is the same whenever its parts are."""
    value = Unknown(data=True)
    value.key = parts
    return value


def decide_if(machine: Machine, node: ast.If, frame: InterpreterFrame) -> bool:
    """Return True if an `if` takes its body."""
    machine.compared = machine.asked = None
    value = machine.evaluate(node.test, frame)
    known = truth(value)
    if known is not None:
        if machine.asked is not None:
            machine.measured[machine.asked][1].add(known)
        watch(machine, node)
        return known
    return assume(machine, value, _preferred(machine, node))


def watch(machine: Machine, node: ast.AST) -> None:
    """Record a decision whose operands change between iterations of a loop."""
    if machine.compared is not None:
        before = machine.decisions.get(node)
        if before is not None and before != machine.compared:
            machine.moving = True
        machine.decisions[node] = machine.compared


def assume(machine: Machine, value: AbstractValue, preferred: bool) -> bool:
    """Return the assumption on an undecided value, which its first use makes."""
    key = key_of(value)
    negated = False
    while isinstance(key, tuple) and key and key[0] == "not":
        key, negated = key[1], not negated
    if key not in machine.assumed:
        machine.assumed[key] = preferred != negated
        if isinstance(key, tuple) and key[0] == "==" and machine.assumed[key]:
            machine.assumed[("is", key[1])] = key[2]
    return machine.assumed[key] != negated


def _preferred(machine: Machine, node: ast.If) -> bool:
    """Return the assumed outcome of an undecided `if`.

    A lone guard that only leaves is skipped, unless it returns something: then a second run takes
    it. Other lone bodies are entered. Of two arms each run takes another.
    """
    last = node.body[-1]
    leaves = isinstance(last, _JUMPS)
    if not node.orelse:
        if isinstance(last, ast.Return) and not isinstance(last.value, ast.Constant | None):
            machine.undecided.add(machine.top)
            return machine.arm == 1
        return not leaves
    if leaves != isinstance(node.orelse[-1], _JUMPS):
        return not leaves
    machine.undecided.add(machine.top)
    return machine.arm == 0


@expression(ast.Compare)
def _compare(machine: Machine, node: ast.Compare, frame: InterpreterFrame) -> AbstractValue:
    left = machine.evaluate(node.left, frame)
    result: AbstractValue = Const(True)
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = machine.evaluate(comparator, frame)
        result = compare(machine, operator, left, right)
        if truth(result) is False:
            return result
        left = right
    return result


def compare(
    machine: Machine, operator: ast.cmpop, left: AbstractValue, right: AbstractValue
) -> AbstractValue:
    """Return one comparison: known, or an unknown that negated and repeated comparisons share."""
    if isinstance(operator, ast.Is | ast.IsNot):
        return _identity(left, right, isinstance(operator, ast.Is))
    if isinstance(left, Const) and isinstance(right, Const):
        machine.compared = (left.value, right.value)
        return _known(operator, left.value, right.value)
    if isinstance(operator, ast.In | ast.NotIn):
        return _membership(left, right, isinstance(operator, ast.In))
    if isinstance(left, AbstractTensor) or isinstance(right, AbstractTensor):
        return Unknown(data=True)
    keys = (key_of(left), key_of(right))
    if isinstance(operator, ast.NotEq):
        return unknown("not", ("==", *keys))
    if isinstance(operator, ast.Eq):
        other = machine.assumed.get(("is", keys[0]))
        if other is not None and isinstance(right, Const) and other != keys[1]:
            return Const(False)
        return unknown("==", *keys)
    return unknown(type(operator).__name__, *keys)


def _identity(left: AbstractValue, right: AbstractValue, positive: bool) -> AbstractValue:
    if isinstance(left, Const) and isinstance(right, Const):
        return Const((left.value is right.value) == positive)
    if isinstance(right, Const) and right.value is None:
        return Const(not positive)
    if left is right:
        return Const(positive)
    known = (*_ALWAYS_TRUE, Const, Sequence, AbstractTensor)
    if isinstance(left, known) and isinstance(right, known):
        return Const(not positive)
    return Unknown(data=True)


def _membership(left: AbstractValue, right: AbstractValue, positive: bool) -> AbstractValue:
    if isinstance(left, Const) and isinstance(right, Mapping) and not right.rest:
        return Const((_hashable(left.value) in right.items) == positive)
    if isinstance(left, Const) and isinstance(right, Sequence) and not right.open:
        values = [item.value for item in right.items if isinstance(item, Const)]
        if len(values) == len(right.items):
            return Const((left.value in values) == positive)
    return unknown("in" if positive else "not in", key_of(left), key_of(right))


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float | bytes | tuple | None) else repr(value)


def _known(operator: ast.cmpop, left: object, right: object) -> AbstractValue:
    outcome: bool
    try:
        match operator:
            case ast.Eq():
                outcome = left == right
            case ast.NotEq():
                outcome = left != right
            case ast.Lt():
                outcome = left < right  # type: ignore[operator]
            case ast.LtE():
                outcome = left <= right  # type: ignore[operator]
            case ast.Gt():
                outcome = left > right  # type: ignore[operator]
            case ast.GtE():
                outcome = left >= right  # type: ignore[operator]
            case ast.In():
                outcome = left in right  # type: ignore[operator]
            case _:
                outcome = left not in right  # type: ignore[operator]
    except TypeError:
        return Unknown(data=True)
    return Const(outcome)


@expression(ast.BoolOp)
def _bool(machine: Machine, node: ast.BoolOp, frame: InterpreterFrame) -> AbstractValue:
    stops_at = isinstance(node.op, ast.Or)
    undecided: list[AbstractValue] = []
    value: AbstractValue = Const(True)
    for operand in node.values:
        value = machine.evaluate(operand, frame)
        known = truth(value)
        if known is stops_at:
            return value
        if known is None:
            undecided.append(value)
    if not undecided:
        return value
    if len(undecided) == 1:
        return undecided[0]
    carrying = next((v for v in undecided if v.node is not None), None)
    return carrying or unknown(type(node.op).__name__, *(key_of(v) for v in undecided))


@expression(ast.IfExp)
def _conditional(machine: Machine, node: ast.IfExp, frame: InterpreterFrame) -> AbstractValue:
    value = machine.evaluate(node.test, frame)
    known = truth(value)
    if known is None:
        known = assume(machine, value, machine.arm == 0)
    return machine.evaluate(node.body if known else node.orelse, frame)
