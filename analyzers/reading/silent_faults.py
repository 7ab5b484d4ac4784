"""Faults that raise nothing: histories that grow, gradients that are never cleared."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from analyzers.evidence import SilentFault
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Reached, Traversal
from analyzers.reading.machine import Machine
from analyzers.reading.parameters import leaves
from analyzers.reading.torch_values import OptimizerValue, ParametersValue
from analyzers.reading.values import AbstractValue, Instance
from provenance import CodeLine, Referrer


def after_backward(machine: Machine, traversal: Traversal, found: Reached) -> None:
    """Report a backward call that keeps its graph and reaches further back each time: a leak."""
    if (
        not traversal.keeps
        or traversal.call.kind == "grad"
        or any(root.times_reached > 1 for root in traversal.roots)
    ):
        return
    at = traversal.call.at
    same = [w for w in machine.tape.calls[-40:] if w.call.at.line == at.line and w.keeps]
    reaches = [w.reach for w in same if w.call.at.file == at.file][-3:]
    if len(reaches) == 3 and reaches[0] < reaches[1] < reaches[2]:
        machine.report(
            ("leak", at.file, at.line),
            SilentFault(
                kind="reaching-back",
                how="predicted",
                at=CodeLine(at.file, at.line, at.function),
                figures=tuple(float(r) for r in reaches),
                call=traversal.call,
                detail="each backward reaches the graphs of more earlier iterations",
            ),
        )


def check_growth(
    machine: Machine,
    node: ast.For | ast.While,
    frame: InterpreterFrame,
    written: Set[tuple[object, ...]],
    since: int,
) -> None:
    """Report what outlives the loop's iterations and chains the freed graphs of several of them.

    `written`: what its last iterations gave to names (`Machine.write`); `since`: when it began.
    """
    if len(machine.tape.calls) < 2:
        return
    targets = {target[0] for target in written}
    facts = machine.facts_of(node)
    for name in sorted(facts.bound_names & frame.names.keys()):
        if (frame.function, name) in targets and _growing(frame.names[name]):
            report_growth(machine, name, frame.names[name], frame)
    if machine.changed < since:
        return
    mentioned = sorted(facts.names & frame.names.keys())
    for name, value in _attributes([(name, frame.names[name]) for name in mentioned]):
        if _growing(value):
            report_growth(machine, name, value, frame)


def _attributes(named: list[tuple[str, AbstractValue]]) -> Iterator[tuple[str, AbstractValue]]:
    """Yield attributes of the objects among these values, two levels deep."""
    level = [(name, value) for name, value in named if isinstance(value, Instance)][:32]
    for _ in range(2):
        below: list[tuple[str, Instance]] = []
        for name, owner in level:
            for attribute, value in list(owner.attrs.items())[:32]:
                if isinstance(value, Instance):
                    below.append((f"{name}.{attribute}", value))
                elif value.node is not None:
                    yield f"{name}.{attribute}", value
        level = below[:32]


def _growing(value: AbstractValue) -> bool:
    """Return True if the graph chains nodes that several backward calls freed and one line made.

    A running total does. Gradients of `autograd.grad` are inner steps of one loss (MAML), of which
    a sum is meant.
    """
    top = value.node
    if top is None or top.leaf or top.freed is not None:
        return False
    freeing: set[int] = set()
    earlier = False
    chain = [top]
    for node in chain:
        for parent in node.parents:
            if parent.freed is not None:
                if parent.freed.call.kind != "grad":
                    freeing.add(parent.freed.call.n)
            elif not parent.leaf and len(chain) < 24 and parent not in chain:
                chain.append(parent)
                same_line = parent.at.line == top.at.line
                earlier = earlier or (same_line and parent.made_after < top.made_after)
    return earlier and len(freeing) >= 2


def report_growth(
    machine: Machine, name: str, value: AbstractValue, frame: InterpreterFrame
) -> None:
    """Report a running total that keeps every graph that it was computed from."""
    node = value.node
    assert node is not None
    machine.report(
        ("growing", node.at.file, node.at.line),
        SilentFault(
            kind="growing-graph",
            how="predicted",
            at=node.at,
            holders=(Referrer(name, frame.function, "local", "Tensor", "now", frame.serial),),
            detail="a running total of tensors that keep their graph",
        ),
    )


def after_step(machine: Machine, optimizer: OptimizerValue, frame: InterpreterFrame) -> None:
    """Report two steps of one optimizer with a backward call but no clearing between them."""
    count, zeroings = len(machine.tape.calls), machine.zeroings
    before = optimizer.last_step
    optimizer.last_step = (count, zeroings)
    if before is None or zeroings != before[1]:
        return
    leaves_ = {leaf.node for leaf in leaves(ParametersValue(optimizer.params))}
    since = machine.tape.calls[before[0] :]
    if any(traversal.call.kind == "backward" and traversal.leaves & leaves_ for traversal in since):
        place = frame.place()
        machine.report(
            ("zero", place.file, place.line),
            SilentFault(
                kind="uncleared-gradients",
                how="predicted",
                at=place,
                detail="nothing clears the gradients between two steps",
            ),
        )
