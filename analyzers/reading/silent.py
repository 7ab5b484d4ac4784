"""Faults that raise nothing: histories that grow, gradients that are never cleared."""

from __future__ import annotations

import ast

from analyzers.evidence import Holder, Place, SilentFault
from analyzers.reading.frames import Frame
from analyzers.reading.machine import Machine
from analyzers.reading.tape import Found, Walk
from analyzers.reading.values import Binding, Node, Value


def after_walk(machine: Machine, walk: Walk, found: Found) -> None:
    """A walk that keeps its graph and reaches further back each time leaks."""
    if not walk.keeps or any(root.walks > 1 for root in walk.roots):
        return
    at = walk.visit.at
    same = [w for w in machine.tape.walks[-40:] if w.visit.at.line == at.line and w.keeps]
    reaches = [w.reach for w in same if w.visit.at.file == at.file][-3:]
    if len(reaches) == 3 and 0 < reaches[0] < reaches[1] < reaches[2]:
        machine.report(
            ("leak", at.file, at.line),
            SilentFault(
                kind="retain-graph-leak",
                how="predicted",
                at=Place(at.file, at.line, at.function),
                figures=tuple(float(r) for r in reaches),
                visit=walk.visit,
                detail="each walk reaches the graphs of more earlier walks",
            ),
        )


def check_growth(machine: Machine, node: ast.For | ast.While, frame: Frame) -> None:
    """A name that outlives the loop's passes and chains the freed graphs of several of them."""
    if len(machine.tape.walks) < 2:
        return
    for name in machine.facts_of(node).bound_names & frame.names.keys():
        value = frame.names[name]
        binding = _growing(value)
        if binding is not None:
            report_growth(machine, name, value, binding, frame)


def _growing(value: Value) -> Binding | None:
    """The last name of a running total whose graph chains two walks' freed nodes."""
    node = value.node
    if node is None or node.leaf or node.freed is not None or node.op not in ("add", "add_"):
        return None
    walks: set[int] = set()
    current: Node | None = node
    length = 0
    while current is not None and length < 3:
        length += 1
        walks |= {id(p.freed) for p in current.parents if p.freed is not None}
        current = next((p for p in current.parents if p.at.line == node.at.line), None)
    return node.names[-1] if len(walks) >= 2 <= length and node.names else None


def report_growth(
    machine: Machine, name: str, value: Value, binding: Binding, frame: Frame
) -> None:
    """A running total that keeps every graph that it was made of."""
    node = value.node
    assert node is not None
    machine.report(
        ("growing", node.at.file, node.at.line),
        SilentFault(
            kind="growing-history",
            how="predicted",
            at=node.at,
            holders=(Holder(name, frame.function, "local", "Tensor", "now", frame.serial),),
            detail="a running total of tensors that carry their graph",
        ),
    )
