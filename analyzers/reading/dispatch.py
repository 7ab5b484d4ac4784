"""Register what evaluates each kind of node, and what calls each kind of value."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.values import AbstractValue, Unknown


class Signal(Enum):
    """Why a block ended before its last statement."""

    BREAK = 1
    CONTINUE = 2
    RETURN = 3
    RAISE = 4


Evaluator = Callable[[Any, Any, InterpreterFrame], AbstractValue]
Executor = Callable[[Any, Any, InterpreterFrame], Signal | None]
Caller = Callable[
    [Any, Any, list[AbstractValue], dict[str, AbstractValue], InterpreterFrame], AbstractValue
]
F = TypeVar("F")


class _Evaluators(dict[type, Evaluator]):
    """What evaluates each kind of expression; others are unknown."""

    def __missing__(self, kind: type) -> Evaluator:
        return lambda machine, node, frame: Unknown()


EXPRESSIONS = _Evaluators()
CALLS: dict[type, Caller] = {}
STATEMENTS: dict[type, Executor] = {}


def _registering(table: dict[type, F]) -> Callable[..., Callable[[F], F]]:
    """Return a decorator, `@expression(ast.Call)`, that puts a function into the table."""

    def for_kinds(*kinds: type) -> Callable[[F], F]:
        def register(function: F) -> F:
            table.update(dict.fromkeys(kinds, function))
            return function

        return register

    return for_kinds


expression = _registering(EXPRESSIONS)
callable_kind = _registering(CALLS)
statement = _registering(STATEMENTS)
