"""Loops: run until what an iteration writes is what the iteration before wrote.

While a counter decides branches, iterations go on with its exact value for a while; then the
counter is forgotten, and its conditions are assumed like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from analyzers.reading import assigning, containers
from analyzers.reading.by_hand import check_updates
from analyzers.reading.conditions import truth
from analyzers.reading.dispatch import Signal, statement
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaves
from analyzers.reading.silent_faults import check_growth
from analyzers.reading.torch_values import Layer, OptimizerValue, ParametersValue
from analyzers.reading.values import AbstractValue, Const, Instance, Sequence, Unknown
from analyzers.source.targets import target_names

EXACT_ITERATIONS = 8
MAX_ITERATIONS = 20
MAX_OBJECTS = 12
KEEPING_ITERATIONS = 4  # what a kept graph grows by shows from iteration to iteration


class _Iterations:
    """The iterations over a loop's body, and after each whether another can tell anything new."""

    def __init__(
        self, machine: Machine, node: ast.For | ast.While, frame: InterpreterFrame, least: int = 0
    ) -> None:
        self.machine = machine
        self.least = least
        self.node = node
        self.frame = frame
        self.outer = machine.writes
        self.began = machine.tape.moment
        self.previous: set[tuple[object, ...]] | None = None
        self.count = 0
        self.forgotten = False
        self.cut = False  # whether the iterations ended before the loop did
        self.signal: Signal | None = None
        self.sizes: dict[int, int] = {}  # as the iteration began, of what was asked for its size

    def run(self, advance: Callable[[bool], bool]) -> bool:
        """Execute an iteration if `advance(forgotten)` prepares one; return True if another may
        differ."""
        self.frame.line = self.node.lineno
        self._begin()
        if not advance(self.forgotten):
            return False
        self.signal = self.machine.execute(self.node.body, self.frame)
        if self.signal in (Signal.BREAK, Signal.RETURN, Signal.RAISE):
            return False
        self.cut = not self._again()
        return not self.cut

    def _begin(self) -> None:
        self.machine.writes = set()
        self.machine.moving = False
        self.sizes = {key: len(held.items) for key, (held, _) in self.machine.measured.items()}

    def _again(self) -> bool:
        machine = self.machine
        self.count += 1
        self.outer |= machine.writes
        stable = machine.writes == self.previous
        self.previous = machine.writes
        if machine.moving and not self.forgotten:
            if self.count >= EXACT_ITERATIONS:
                self.forget_counters()
            return True
        if self.count < self.least:
            return True
        traversals = machine.tape.calls
        if traversals and traversals[-1].keeps and self.count < KEEPING_ITERATIONS:
            return True
        if self.count >= MAX_ITERATIONS:
            machine.gave_up(f"a loop that is not stable after {MAX_ITERATIONS} iterations")
            return False
        return not stable

    def forget_counters(self) -> None:
        """Make numbers that the loop changes unknown, among them the sizes of what it fills."""
        self.forgotten = True
        self.previous = None
        names = self.frame.names
        for name in self.machine.facts_of(self.node).bound_names | self.machine.walrus:
            if name in names:
                names[name] = assigning.forget(names[name])
        for (_, attribute), attrs in self.machine.counters.items():
            if attribute in attrs:
                attrs[attribute] = assigning.forget(attrs[attribute])
        for key, size in self.sizes.items():
            held, outcomes = self.machine.measured[key]
            held.open = held.open or (len(held.items) > size and len(outcomes) == 1)

    def end(self) -> Signal | None:
        """Report what only the end of the loop shows; return the loop's own signal."""
        written = self.machine.writes | (self.previous or set())
        self.machine.writes = self.outer
        if self.cut:
            self.forget_counters()
        check_growth(self.machine, self.node, self.frame, written, self.began)
        check_updates(self.machine, self.node, self.frame)
        if self.signal in (Signal.RETURN, Signal.RAISE):
            return self.signal
        if self.signal is Signal.BREAK:
            return None
        return self.machine.execute(self.node.orelse, self.frame)


def _run(
    machine: Machine,
    node: ast.For | ast.While,
    frame: InterpreterFrame,
    advance: Callable[[bool], bool],
    least: int = 0,
) -> Signal | None:
    """Execute iterations of the body, at least `least` of them while `advance` prepares them.

    Return the loop's own signal.
    """
    iterations = _Iterations(machine, node, frame, least)
    moving = machine.moving
    while iterations.run(advance):
        pass
    machine.moving = moving
    return iterations.end()


@statement(ast.For, ast.AsyncFor)
def _for(machine: Machine, node: ast.For, frame: InterpreterFrame) -> Signal | None:
    call, numbered = _generator_of(node.iter)
    taking = _Taking(machine, node, frame, numbered)
    try:
        with machine.feeding(call, taking):
            source = machine.evaluate(node.iter, frame)
    except _Enough:
        return taking.end()
    if taking.taken:
        return taking.end()
    items = containers.iterate(machine, source, frame)

    def advance(forgotten: bool) -> bool:
        item = next(items, None)
        if item is None:
            return False
        assigning.assign(machine, node.target, _blurred(item) if forgotten else item, frame)
        return True

    return _run(machine, node, frame, advance, _least(machine, node, source))


class _Enough(Exception):
    """What takes a generator's values wants no more of them."""


class _Taking:
    """The body of a `for` that consumes each value of a generator at its `yield`.

    What follows a `yield` runs after the iteration over that value.
    """

    def __init__(
        self, machine: Machine, node: ast.For, frame: InterpreterFrame, numbered: bool
    ) -> None:
        self._machine, self._node, self._frame = machine, node, frame
        self._numbered = numbered
        self._iterations = _Iterations(machine, node, frame)
        self.taken = False

    def __call__(self, value: AbstractValue) -> None:
        machine = self._machine
        writes, moving = machine.writes, machine.moving
        self.taken = True
        item = Sequence([Unknown(data=True), value], "tuple") if self._numbered else value

        def advance(forgotten: bool) -> bool:
            assigning.assign(machine, self._node.target, item, self._frame)
            return True

        again = self._iterations.run(advance)
        writes |= machine.writes
        machine.writes, machine.moving = writes, moving or machine.moving
        if not again:
            raise _Enough

    def end(self) -> Signal | None:
        """Return the signal of the loop, once the generator has ended."""
        return self._iterations.end()


def _generator_of(node: ast.expr) -> tuple[ast.expr, bool]:
    """Return what may be a generator's call, and whether its values are numbered."""
    match node:
        case ast.Call(func=ast.Name(id="enumerate"), args=[call, *_]):
            return call, True
    return node, False


def _least(machine: Machine, node: ast.For, source: AbstractValue) -> int:
    """Return how many objects a loop surely receives: each of them gets the same treatment."""
    if isinstance(source, ParametersValue):
        return len(leaves(source)) if machine.facts_of(node).freezes else 0
    items = source.children if isinstance(source, Layer) else getattr(source, "items", ())
    if not isinstance(items, list) or not any(_is_object(item) for item in items):
        return 0
    return min(len(items), MAX_OBJECTS)


def _is_object(item: AbstractValue) -> bool:
    """Return True for an object, or the name of one; alone, or together with others."""
    parts = item.items if isinstance(item, Sequence) and item.kind == "tuple" else [item]
    return any(
        isinstance(part, Instance | Layer | OptimizerValue) or _is_name(part) for part in parts
    )


def _is_name(part: AbstractValue) -> bool:
    return isinstance(part, Const) and isinstance(part.value, str)


def _blurred(item: AbstractValue) -> AbstractValue:
    """Return the item with its numbers forgotten: `(i, batch)` of an enumeration."""
    if isinstance(item, Sequence) and item.kind == "tuple":
        return Sequence([assigning.forget(part) for part in item.items], "tuple")
    return assigning.forget(item)


@statement(ast.While)
def _while(machine: Machine, node: ast.While, frame: InterpreterFrame) -> Signal | None:
    def advance(forgotten: bool) -> bool:
        value = machine.evaluate(node.test, frame)
        return truth(value) is not False

    return _run(machine, node, frame, advance)


def comprehension(
    machine: Machine, generators: list[ast.comprehension], frame: InterpreterFrame
) -> Iterator[None]:
    """Bind the targets for each iteration of comprehension clauses and restore the names
    afterwards."""
    targets = {name for clause in generators for name in target_names(clause.target)}
    outside = {name: frame.names.get(name) for name in targets if frame.lookup(name) is not None}
    yield from _clauses(machine, generators, frame)
    for name, value in outside.items():
        if value is not None:
            frame.names[name] = value
        else:
            frame.names.pop(name, None)


def _clauses(
    machine: Machine, generators: list[ast.comprehension], frame: InterpreterFrame
) -> Iterator[None]:
    if not generators:
        yield
        return
    first, rest = generators[0], generators[1:]
    source = machine.evaluate(first.iter, frame)
    enough = containers.enough(source)
    for count, item in enumerate(containers.iterate(machine, source, frame), 1):
        if count > enough or (count > 3 and isinstance(item, Unknown)):
            return
        if count > 40:
            machine.gave_up("a long comprehension")
            return
        assigning.assign(machine, first.target, item, frame)
        if all(truth(machine.evaluate(test, frame)) is not False for test in first.ifs):
            yield from _clauses(machine, rest, frame)
