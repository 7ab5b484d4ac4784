"""Functions that walk the graphs of engines written by hand, and what they clear or keep."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

RECORDED = """\
class Quantity:
    def __init__(self, value, records=()):
        self.value, self.slope, self.records = value, 0.0, records
    def __add__(self, other):
        return Quantity(self.value + other.value, [(self, lambda s: s), (other, lambda s: s)])
    def __mul__(self, other):
        a, b = self.value, other.value
        return Quantity(a * b, [(self, lambda s: s * b), (other, lambda s: s * a)])
    def absorb(self, share):
        self.slope = self.slope + share
    METHOD

def order_of(root):
    seen, order, stack = set(), [], [(root, False)]
    while stack:
        item, done = stack.pop()
        if done:
            order.append(item)
        elif id(item) not in seen:
            seen.add(id(item))
            if item.records is None:
                raise LookupError("records were used up")
            stack += [(item, True), *((source, False) for source, _ in item.records)]
    return order[::-1]

def largest(root):
    return max(source.value for source, _ in root.records)

def sweep(root):
    root.slope = 1.0
    for item in order_of(root):
        for source, pullback in item.records:
            source.absorb(pullback(item.slope))
        if item.records:
            item.records = None

def fit(first):
    total = first * Quantity(1.0)
    for turn in range(3):
        total = total * weight + Quantity(1.0)
        LOOK
        CALL
    return total

weight = Quantity(0.5)
fit(Quantity(1.0) + weight)
"""
METHOD = "def collect(self):\n        for _ in range(1): sweep(self)"


@pytest.mark.parametrize(
    ("method", "look", "call", "line"),
    [
        ("", "", "sweep(total)", "sweep(total)"),
        ("", "largest(total)", "sweep(total)", "sweep(total)"),
        (METHOD, "", "total.collect()", "total.collect()"),
    ],
)
def test_what_walks_is_known_by_what_it_does(
    traced: Tracing, method: str, look: str, call: str, line: str
) -> None:
    script = RECORDED.replace("METHOD", method).replace("LOOK", look).replace("CALL", call)
    reuse = traced(script).trace.reuse
    assert reuse is not None
    assert (reuse.engine_class, reuse.message) == ("Quantity", "records were used up")
    assert script.splitlines()[reuse.reached.at.line - 1].strip() == line
    assert reuse.reached.at == reuse.freed.at
    assert "total" in [holder.path for holder in reuse.stale_edges[0].holders]


def test_what_only_looks_at_a_graph_is_no_walk(traced: Tracing) -> None:
    script = (
        RECORDED.replace("METHOD", "").replace("LOOK", "pass").replace("CALL", "largest(total)")
    )
    result = traced(script)
    assert result.code == 0, result.stderr
    assert result.trace.backwards == []


def test_an_arithmetic_class_that_is_no_engine_is_left_alone(traced: Tracing) -> None:
    script = """\
class Vector:
    def __init__(self, *parts):
        self.parts = parts
    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts)))
    def norm(self):
        return sum(part * part for part in self.parts)

def spread(vector):
    return [vector + Vector(*vector.parts) for _ in range(3)]

for turn in range(9):
    print(sum(v.norm() for v in spread(Vector(1.0, 2.0) + Vector(0.5, 0.25))))
print(spread.__code__.co_filename == norm.__code__.co_filename if (norm := Vector.norm) else None)
"""
    result = traced(script)
    assert result.code == 0, result.stderr
    assert result.trace.backwards == []
    assert result.stdout.splitlines()[-1] == "True"


SHARED = """\
class Var:
    def __init__(self, value):
        self.value = value

tape = []

def record(value, *inputs):
    out = Var(value)
    tape.append((out, inputs))
    return out

class Tape:
    def __init__(self, entries):
        self.entries, self.asked = entries, False

    def gradient(self, target, sources):
        if self.asked:
            raise RuntimeError("asked before")
        self.asked, flow = True, {id(target): 1.0}
        for out, inputs in reversed(self.entries):
            for one in inputs:
                flow[id(one)] = flow.get(id(one), 0.0) + flow.get(id(out), 0.0)
        return [flow[id(source)] for source in sources]

weight = Var(0.5)
shared = record(weight.value, weight)
one = record(shared.value, shared)
two = record(shared.value, shared)
asked = Tape(tape)
asked.gradient(one, [weight])
asked.gradient(two, [weight])
"""


def test_a_tape_reports_what_was_made_from_what(traced: Tracing) -> None:
    reuse = traced(SHARED).trace.reuse
    assert reuse is not None
    assert [visit.at.line for visit in (reuse.freed, reuse.reached)] == [30, 31]
    assert reuse.reached.root[0] == "two"
    assert [edge.holders[0].path for edge in reuse.stale_edges] == ["shared"]


CREATED = """\
class Variable:
    def __init__(self, data):
        self.data, self.grad, self.creator = data, 0.0, None

    def __mul__(self, other):
        return Times()(self, other)

    def backward(self):
        self.grad, todo = 1.0, [self.creator]
        while todo:
            step = todo.pop()
            if step.inputs is None:
                raise RuntimeError("released")
            for one in step.inputs:
                one.grad += step.output.grad
                if one.creator is not None:
                    todo.append(one.creator)
            step.inputs = None

class Times:
    def __call__(self, *inputs):
        self.inputs = inputs
        self.output = Variable(inputs[0].data * inputs[1].data)
        self.output.creator = self
        return self.output

    def backward(self, slope):
        return slope

weight, state = Variable(0.5), Variable(1.0)
for turn in range(3):
    state = Times()(state * weight, Variable(2.0))
    state.backward()
"""


def test_an_operation_may_be_older_than_its_inputs(traced: Tracing) -> None:
    """`Times()` is made before what it is given; and the failing walk lets go of its way."""
    trace = traced(CREATED).trace
    assert trace.reuse is not None
    assert trace.backwards[0].nodes > 5
    assert trace.reuse.stale_edges[0].old.at is not None
    assert trace.reuse.stale_edges[0].old.at.line == 32


GATHERING = """\
KIND
class Node:
    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, ZERO

    def __mul__(self, other):
        return Node(self.value * other.value, ((self, other.value), (other, self.value)))

    def backward(self):
        CLEARS
        for node, factor in self.parents:
            node.grad = node.grad + factor
            for below, inner in node.parents:
                below.grad += inner * factor

weight = Node(START)
for turn in range(12):
    (weight * Node(START)).backward()
    UPDATE
"""
NUMPY = ("import numpy as np", "np.zeros(2)", "np.ones(2)")


@pytest.mark.parametrize("kind", [("", "0.0", "1.0"), NUMPY])
@pytest.mark.parametrize(
    ("clears", "update", "reported"),
    [
        ("pass", "weight.value = weight.value - 0.01 * weight.grad", True),
        ("weight.grad = ZERO", "weight.value = weight.value - 0.01 * weight.grad", False),
        ("weight.grad = weight.grad * 0", "weight.value = weight.value - weight.grad", False),
        ("pass", "weight.value = weight.value + (-1) ** turn", False),
        ("pass", "weight.value, weight.grad = weight.value - weight.grad, ZERO", False),
        ("pass", "pass", False),
    ],
)
def test_leaves_that_nothing_clears(
    traced: Tracing, kind: tuple[str, str, str], clears: str, update: str, reported: bool
) -> None:
    """An engine may clear in its backward; what a script writes need not be an update."""
    script = GATHERING.replace("CLEARS", clears).replace("UPDATE", update)
    for name, text in zip(("KIND", "ZERO", "START"), kind, strict=True):
        script = script.replace(name, text)
    found = [(s.kind, s.params, s.gradient) for s in traced(script).trace.silent]
    assert found == ([("uncleared-gradients", ("weight",), "grad")] if reported else [])


UNFREED = """\
class Node:
    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, 0.0

    def __mul__(self, other):
        return Node(self.value * other.value, ((self, other.value), (other, self.value)))

    def backward(self, slope=1.0):
        self.grad += slope
        for node, factor in self.parents:
            node.backward(slope * factor)

weight, state = Node(0.5), Node(1.0)
for turn in range(12):
    state = state * weight
    loss = state * Node(2.0)
    weight.grad = 0.0
    loss.backward()
    weight.value -= 0.01 * weight.grad
    CUTS
"""


@pytest.mark.parametrize(
    ("cuts", "reported"),
    [
        ("pass", True),
        ("state = Node(state.value)", False),
        ("state = state if turn % 4 else Node(state.value)", False),
    ],
)
def test_walks_that_go_ever_further_back(traced: Tracing, cuts: str, reported: bool) -> None:
    """An engine that frees nothing walks the whole past of a state that nothing cuts."""
    found = traced(UNFREED.replace("CUTS", cuts)).trace.silent
    grown = [s for s in found if s.kind == "growing-graph"]
    assert bool(grown) is reported
    for fault in grown:
        assert {holder.path for holder in fault.holders} == {"state"}
        assert fault.gradient == "grad"
        assert fault.figures == tuple(sorted(set(fault.figures)))
