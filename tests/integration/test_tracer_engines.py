"""Engines written by hand: which leaves they feed, and whose frames are told."""

from __future__ import annotations

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
    assert reuse.joins[0].holders[0].path == "state"
    assert [place.function for place in reuse.reached.stack] == ["<module>"]


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
