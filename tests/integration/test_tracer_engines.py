"""Engines written by hand: which leaves they feed, and whose frames are reported."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

ENGINE = """\
from dataclasses import dataclass

@dataclass(slots=True, eq=False)
class Scalar:
    value: float
    sources: tuple = ()
    slopes: tuple = ()
    slope: float = 0.0
    spent: bool = False

    def __mul__(self, other):
        return Scalar(self.value * other.value, (self, other), (other.value, self.value))

    def backward(self, slope=1.0):
        if self.sources and self.spent:
            raise RuntimeError("already differentiated")
        self.spent = True
        self.slope += slope
        for source, factor in zip(self.sources, self.slopes):
            source.backward(slope * factor)

class Net:
    def __init__(self):
        self.weights = [Scalar(0.5), Scalar(0.25)]

net, state = Net(), Scalar(1.0)
for turn in range(3):
    for weight in net.weights:
        state = state * weight
    score = state * Scalar(2.0)
    score.backward()
    KEEP
"""


def test_a_class_that_a_decorator_finishes_is_observed(traced: Tracing) -> None:
    reuse = traced(ENGINE.replace("KEEP", "pass")).trace.reuse
    assert reuse is not None
    assert (reuse.engine, reuse.engine_class) == ("custom", "Scalar")
    assert (reuse.freed.iteration, reuse.reached.iteration) == (1, 2)
    assert reuse.stale_edges[0].holders[0].path == "state"
    assert [place.function for place in reuse.reached.stack] == ["<module>"]


def test_an_observed_class_keeps_its_signature(traced: Tracing) -> None:
    """As the script sees it: who filters arguments by it would lose them else."""
    result = traced("""\
        import inspect
        from dataclasses import dataclass
        @dataclass
        class Node:
            value: float
            parents: tuple = ()
        class Leaf(Node):
            def __init__(self, start):
                super().__init__(start)
        class Bare:
            pass
        class Kept(Bare):
            def __new__(cls, one):
                return super().__new__(cls)
        for kind in (Node, Leaf, Bare, Kept):
            print(inspect.signature(kind))
        print(Node(1.0), Leaf(2.0).value, type(Bare()).__name__, type(Kept(1)).__name__)
        """)
    assert result.code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "(value: float, parents: tuple = ()) -> None",
        "(start)",
        "()",
        "(one)",
        "Node(value=1.0, parents=()) 2.0 Bare Kept",
    ]


@pytest.mark.parametrize("inside", [True, False])
def test_nodes_are_made_again_only_behind_the_walk_that_freed_them(
    traced: Tracing, inside: bool
) -> None:
    """A leaf of the first forward that no backward call reaches is not new."""
    made = "state = state * Scalar(weight)"
    script = ENGINE.replace("    KEEP\n", "").replace(
        "    for weight in net.weights:\n        state = state * weight\n",
        f"    {made}\n" if inside else "",
    )
    loop = "for turn in range(3):\n"
    script = script.replace(loop, f"weight = 0.5\n{made if not inside else ''}\n{loop}")
    reuse = traced(script).trace.reuse
    assert reuse is not None
    assert reuse.remade is inside


def test_named_leaves_receive_and_keep_their_ids(traced: Tracing) -> None:
    trace = traced(ENGINE.replace("KEEP", "state = Scalar(state.value)")).trace
    assert trace.reuse is None
    weights = {p.id for p in trace.parameters if p.name in ("net.weights[0]", "net.weights[-1]")}
    weights |= {p.id for p in trace.parameters if p.name == "weight"}
    assert len(weights) == 2
    assert len(trace.backwards) == 3
    for call in trace.backwards:
        assert weights <= set(call.received)


def test_what_a_walk_leaves_alone_has_received_nothing(traced: Tracing) -> None:
    script = ENGINE.replace("KEEP", "state = Scalar(state.value)")
    script = script.replace("for weight in net.weights:", "for weight in net.weights[:1]:")
    names = {p.name for p in traced(script).trace.parameters}
    assert not any("[-1]" in name for name in names)


@pytest.mark.parametrize(
    ("update", "stale"),
    [("pass", False), ("weight.value -= 0.1 * weight.slope", True)],
)
def test_what_was_made_before_an_update_is_stale(traced: Tracing, update: str, stale: bool) -> None:
    """The engine forgives a second walk, and the state carries what was made before."""
    script = ENGINE.replace("self.sources and self.spent", "False")
    clear = f"\n    for weight in net.weights:\n        {update}\n        weight.slope = 0.0"
    carried = traced(script.replace("\n    KEEP", clear), gradients=True).trace.backwards
    assert [bool(call.stale) for call in carried] == [False, stale, stale]
    cut = script.replace("    KEEP", f"    state = Scalar(state.value){clear}")
    assert not any(call.stale for call in traced(cut, gradients=True).trace.backwards)


KEEPING = """\
class Step:
    def __init__(self, *inputs):
        self.inputs = inputs

class Cell:
    def __init__(self, value, source=None):
        self.value, self.source, self.spent = value, source, False

    def __mul__(self, other):
        return Cell(self.value * other.value, SOURCE)

    def backward(self):
        if self.source is not None and self.spent:
            raise RuntimeError("walked before")
        self.spent = True
        for held in BELOW:
            held.backward()

weight, state = Cell(0.5), Cell(1.0)
for turn in range(3):
    state = state * weight
    state.backward()
"""


@pytest.mark.parametrize(
    ("source", "below"),
    [
        ("[(self, 1.0), (other, 2.0)]", "[pair[0] for pair in self.source or ()]"),
        ("Step(self, other)", "(self.source.inputs if self.source else ())"),
        ("lambda: (self, other)", "(self.source() if self.source else ())"),
    ],
)
def test_what_a_node_was_made_from_is_found_where_it_is_kept(
    traced: Tracing, source: str, below: str
) -> None:
    reuse = traced(KEEPING.replace("SOURCE", source).replace("BELOW", below)).trace.reuse
    assert reuse is not None
    assert reuse.stale_edges[0].holders[0].path == "state"


TAPE = """\
class Entry:
    def __init__(self, value, tape, sources=()):
        self.value, self.tape, self.sources, self.gone = value, tape, sources, False
        if sources:
            tape.entries.append(self)

    def __mul__(self, other):
        return Entry(self.value * other.value, self.tape, (self, other))

class Tape:
    def __init__(self):
        self.entries = []

    def backward(self, root):
        for entry in reversed(self.entries):
            if any(source.gone for source in entry.sources):
                raise RuntimeError("no longer on the tape")
        for entry in self.entries:
            entry.gone, entry.sources = True, ()
        self.entries.clear()

tape = Tape()
weight = Entry(0.5, tape)
derived = weight * weight
for turn in range(3):
    root = derived * Entry(float(turn), tape)
    tape.backward(root)
"""


def test_a_tape_walks_the_entry_that_it_is_given(traced: Tracing) -> None:
    reuse = traced(TAPE).trace.reuse
    assert reuse is not None
    assert reuse.engine_class == "Entry"
    assert reuse.stale_edges[0].holders[0].path == "derived"
    assert reuse.stale_edges[0].old.at is not None
    assert reuse.stale_edges[0].old.at.line == TAPE[: TAPE.index("derived =")].count("\n") + 1


SWEPT = """\
class Spent(Exception):
    pass

class Node:
    def __init__(self, value, inputs=(), slopes=()):
        self.value, self.inputs, self.slopes = value, inputs, slopes
        self.grad, self.spent = 0.0, False
    def __mul__(self, other):
        return Node(self.value * other.value, (self, other), (other.value, self.value))

def sweep(root, grad=1.0):
    if root.inputs and root.spent:
        raise Spent("node already swept")
    root.spent = True
    for node, slope in zip(root.inputs, root.slopes):
        node.grad += grad * slope
        sweep(node, grad * slope)

weight, state = Node(0.5), Node(1.0)
for turn in range(3):
    state = state * weight
    CALL
    KEEP
"""


@pytest.mark.parametrize("call", ["sweep(state)", "sweep(root=state)"])
def test_a_function_that_walks_is_observed(traced: Tracing, call: str) -> None:
    reuse = traced(SWEPT.replace("CALL", call).replace("KEEP", "pass")).trace.reuse
    assert reuse is not None
    assert (reuse.engine, reuse.message) == ("custom", "node already swept")
    assert (reuse.freed.iteration, reuse.reached.iteration) == (1, 2)
    assert "state" in [holder.path for holder in reuse.stale_edges[0].holders]


def test_a_function_that_is_given_no_node_is_called_as_it_is(traced: Tracing) -> None:
    call = "weight.grad = sum([0.0]); sweep(type('Other', (), {'inputs': (), 'slopes': ()})())"
    result = traced(SWEPT.replace("CALL", call).replace("KEEP", "pass"))
    assert result.code == 0, result.stderr
    assert result.trace.backwards == []
