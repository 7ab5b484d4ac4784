"""Traces of trainings for unit tests of the comparison: no torch, no sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from provenance import BackwardCall, CodeLine
from sandbox.records import (
    Backward,
    Final,
    Gradient,
    Parameter,
    RunEnd,
    Step,
    Trace,
    UntrainedTensor,
)

Reason = Literal["finished", "stopped", "raised"]
RATE = 0.1


def three(value: float) -> list[float]:
    """A fingerprint: the norm and projections of one number."""
    return [abs(value), value, -value, value]


def parameter(param: int, name: str, first: float, **more: Any) -> Parameter:
    """One of the first optimizer, of the shape that its number says unless another is given."""
    return Parameter.model_validate(
        {"id": param, "name": name, "shape": [2], "optimizer": 0, "first": three(first), **more}
    )


def gradient(param: int, value: float, held: float, **more: Any) -> Gradient:
    """What one parameter gets in a step of plain descent, which starts from what it `held`."""
    fields = {"norm": abs(value), "projections": three(value)[1:], "values": three(held)}
    change = [-RATE * x for x in three(value)[1:]]
    return Gradient.model_validate({"param": param, "change": change, **fields, **more})


def trained(
    gradients: Sequence[Mapping[int, float]],
    names: Mapping[int, str] | None = None,
    firsts: Mapping[int, float] | None = None,
    *,
    settings: Mapping[str, list[float]] | None = None,
    kind: str = "SGD",
    reason: Reason = "finished",
    buffers: Sequence[float] = (),
    random: Sequence[str] = (),
    losses: Sequence[float] = (),
) -> Trace:
    """A run of one optimizer: the gradient of each parameter at each step; everything else
    follows from them."""
    names = names or {p: f"w{p}" for p in gradients[0]}
    firsts = firsts or {p: 1.0 + p for p in names}
    held = dict(firsts)
    steps = []
    for n, given in enumerate(gradients, 1):
        steps.append(
            Step(
                t="step",
                n=n,
                count=n,
                optimizer=0,
                after=n,
                at=CodeLine(file="train.py", line=9),
                kind=kind,
                settings=[dict(settings or {"lr": [RATE]})],
                gradients=[gradient(p, g, held[p]) for p, g in given.items()],
                others=[_buffer(buffers[n - 1])] if buffers else [],
                random=random[n - 1] if random else "",
            )
        )
        held |= {p: held[p] - RATE * g for p, g in given.items()}
    return Trace(
        parameters=[parameter(p, name, firsts[p]) for p, name in names.items()],
        steps=steps,
        backwards=[_call(n, loss) for n, loss in enumerate(losses, 1)],
        final=Final(t="final", optimizer_steps=[len(steps)]),
        ended=RunEnd(t="end", reason=reason, steps=len(steps), backwards=len(steps)),
    )


def _buffer(value: float) -> UntrainedTensor:
    return UntrainedTensor(name="BatchNorm1d.running_mean", shape=[3], values=three(value))


def _call(n: int, loss: float) -> Backward:
    at = CodeLine(file="train.py", line=7)
    return Backward(t="backward", call=BackwardCall(n=n, at=at), loss=loss)
