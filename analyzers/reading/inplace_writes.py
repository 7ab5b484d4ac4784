"""In-place operations: they raise a version, may join graphs, and are forbidden on some tensors."""

from __future__ import annotations

from analyzers.evidence import InplaceChange
from analyzers.reading import value_graphs
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Storage, TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractTensor, AbstractValue
from analyzers.source import ops
from provenance import InplaceWrite, Referrer

_RESHAPING = ops.words("t_ transpose_ squeeze_ unsqueeze_ swapaxes_ resize_ resize_as_ set_")


def write(
    machine: Machine,
    target: AbstractTensor,
    op: str,
    values: list[AbstractValue],
    frame: InterpreterFrame,
) -> AbstractTensor:
    """Change a tensor in place: its storage gets a new version, its graph a new node."""
    place = frame.place()
    if machine.grad:
        _check(machine, target, op, frame)
    bump(target.storage, frame, op)
    if op in _RESHAPING:
        target.shape = target.scalar = None
    if target.storage.leaf is not None:
        machine.changed_by_hand(target.storage.leaf)
    machine.changed = machine.tape.moment
    incoming = value_graphs.graphs(values)
    old = target.node
    if not machine.grad or (old is None and not incoming) or op == "detach_":
        return target
    if old is not None and old.leaf:
        return target
    parents = (*((old,) if old is not None else ()), *incoming)  # `zero_` keeps the history too
    kind = ops.op(op)
    target.node = machine.tape.node(op, place, parents, kind.saves)  # type: ignore[misc]
    if kind.result and target.node is not None:
        target.node.saved.append((target.storage, target.storage.version))
    return target


def bump(storage: Storage, frame: InterpreterFrame, op: str) -> None:
    """Raise the version of a storage: what saved it before is stale now."""
    storage.version += 1
    storage.change = (frame.place(), op)


def _check(machine: Machine, target: AbstractTensor, op: str, frame: InterpreterFrame) -> None:
    node = target.node
    if node is None:
        return
    leaf = node.leaf and node.trainable
    on_leaf_view = target.view and target.storage.leaf is not None
    if not leaf and not on_leaf_view and not target.siblings:
        return
    place = frame.place()
    kind = "view" if target.siblings and not leaf else "leaf"
    machine.report(
        ("inplace", kind, place.file, place.line),
        InplaceChange(
            kind="view" if kind == "view" else "leaf",
            how="predicted",
            at=place,
            node=None,
            holders=_holders(node, target.storage),
            is_parameter=leaf,
            changes=(InplaceWrite(place, op=op),),
        ),
    )


def _holders(node: TapeNode, storage: Storage) -> tuple[Referrer, ...]:
    names = node.names or storage.names
    return tuple(
        Referrer(b.path, b.scope, b.kind, b.container, "now", b.frame)  # type: ignore[arg-type]
        for b in reversed(names)
    )
