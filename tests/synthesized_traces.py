"""Traces synthesized for tests: steps with their gradients, backward calls with their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from provenance import BackwardCall, CodeLine
from sandbox.records import Backward, Gradient, Parameter, Step, Trace

LINE = CodeLine(file="train.py", line=9)


def gradient(param: int, value: float) -> Gradient:
    return Gradient(param=param, norm=abs(value), projections=[value, -value, value])


def trace(steps: Sequence[dict[int, float]] = (), nodes: Sequence[int] = ()) -> Trace:
    """A trace with the given gradients at each step of one optimizer, and nodes per backward."""
    return Trace(
        parameters=[Parameter(id=i, name=f"w{i}", optimizer=0) for i in range(2)],
        steps=[
            Step(t="step", n=n, optimizer=0, gradients=[gradient(p, v) for p, v in one.items()])
            for n, one in enumerate(steps, 1)
        ],
        backwards=[
            Backward(
                t="backward",
                call=BackwardCall(n=n, at=LINE, iteration=n),
                nodes=count,
                reach=reach,
            )
            for n, (count, reach) in enumerate(zip(nodes, range(len(nodes)), strict=True), 1)
        ],
    )
