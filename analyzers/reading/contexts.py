"""The `with` statement: what its context managers do before and after the body."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from analyzers.reading import assigning, classes
from analyzers.reading.dispatch import Signal, statement
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.torch_values import Context
from analyzers.reading.values import NONE, AbstractValue, Library


@statement(ast.With, ast.AsyncWith)
def _with(machine: Machine, node: ast.With, frame: InterpreterFrame) -> Signal | None:
    if any(_expects_failure(item.context_expr, frame) for item in node.items):
        return None
    return _within(machine, node, node.items, frame)


def _within(
    machine: Machine, node: ast.With, items: Sequence[ast.withitem], frame: InterpreterFrame
) -> Signal | None:
    """Execute the body within these context managers; return its signal."""
    if not items:
        return machine.execute(node.body, frame)
    block = _Block(machine, node, items, frame)
    before = machine.grad
    with machine.feeding(items[0].context_expr, block):
        manager = machine.evaluate(items[0].context_expr, frame)
    if block.executed:  # at the `yield` of a generator that is the manager
        return block.signal
    entered = manager
    if isinstance(manager, Context):
        machine.grad = machine.grad if manager.grad is None else manager.grad
        entered = manager.value
    elif method := classes.method_of(manager, "__enter__"):
        entered = machine.call(method, [], {}, frame)
    try:
        block(entered)
    finally:
        machine.grad = before
    method = classes.method_of(manager, "__exit__")
    if method is not None and block.signal is not Signal.RAISE:
        machine.call(method, [NONE, NONE, NONE], {}, frame)
    return block.signal


class _Block:
    """The rest of a `with` statement: what follows its first context manager, with its body."""

    def __init__(
        self,
        machine: Machine,
        node: ast.With,
        items: Sequence[ast.withitem],
        frame: InterpreterFrame,
    ) -> None:
        self._machine, self._node, self._items, self._frame = machine, node, items, frame
        self.executed = False
        self.signal: Signal | None = None

    def __call__(self, entered: AbstractValue) -> None:
        """Execute it once, with what its first context manager gives."""
        if self.executed:
            return
        self.executed = True
        target = self._items[0].optional_vars
        if target is not None:
            assigning.assign(self._machine, target, entered, self._frame)
        self.signal = _within(self._machine, self._node, self._items[1:], self._frame)
        self._frame.line = self._node.lineno


def _expects_failure(node: ast.expr, frame: InterpreterFrame) -> bool:
    """Return True for `with self.assertRaises(...)`, `with pytest.raises(...)`: a failing body."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return "raises" in name.lower()
        case ast.Call(func=ast.Name(id=name)):
            denoted = frame.lookup(name)
            path = denoted.path if isinstance(denoted, Library) else name
            return "raises" in path.rpartition(".")[2].lower()
    return False
