"""`backward` and `autograd.grad`: backward calls over the graph, and what they find missing."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.evidence import MissingGraph
from analyzers.reading import guesses, silent_faults, value_graphs
from analyzers.reading.frames import InterpreterFrame
from analyzers.reading.graph import Lost, Reached, TapeNode
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractTensor, AbstractValue, Const, Sequence, Unknown
from analyzers.source import ops
from provenance import BackwardCall, CodeLine, Referrer

FLAT = "One of the differentiated Tensors does not require grad"


def backward(
    machine: Machine,
    values: list[AbstractValue],
    kwargs: dict[str, AbstractValue],
    frame: InterpreterFrame,
    *,
    kind: str = "backward",
    explicit: bool = False,
) -> None:
    """Run backward from the values. `explicit`: an outer gradient was given."""
    machine.backward_places[frame.place()] = None
    roots = _roots(machine, values, frame)
    if not roots:
        _missing(machine, values, frame)
        return
    if not explicit:
        _check_scalar(machine, values, kind, frame)
    create = _flag(kwargs, "create_graph")
    backward_call = machine.tape.backward_call(
        frame.stack(),
        names_of(roots),
        kind=kind,
        retain=_flag(kwargs, "retain_graph") or (create and "retain_graph" not in kwargs),
        create=create,
        library=tuple(machine.library),
    )
    found = run(machine, roots, backward_call, _goals(kwargs))
    if kind == "backward" and machine.suspecting == "no-grad":
        _check_copies(machine, values, found, frame)
    if kind == "grad" and not _flag(kwargs, "allow_unused"):
        _check_inputs(machine, kwargs, found, frame)


def _goals(options: dict[str, AbstractValue]) -> frozenset[TapeNode]:
    """Return the tensors whose gradients alone are asked for; empty if they are not all known."""
    inputs = options.get("inputs")
    given = inputs.items if isinstance(inputs, Sequence) else [inputs] if inputs else []
    nodes = [tensor.node for tensor in given if isinstance(tensor, AbstractTensor) and tensor.node]
    whole = not (isinstance(inputs, Sequence) and inputs.open) and len(nodes) == len(given)
    return frozenset(nodes) if whole else frozenset()


def run(
    machine: Machine,
    roots: tuple[TapeNode, ...],
    backward_call: BackwardCall,
    goals: frozenset[TapeNode] = frozenset(),
) -> Reached:
    """Execute one backward call, report its evidence and return what it could reach.

    With `goals` it takes only the paths that lead there, and frees no other nodes.
    """
    traversal, whole = machine.tape.run(roots, backward_call)
    found = machine.tape.towards(goals, roots, whole) if goals else whole
    if not found.complete:
        machine.gave_up("a graph too large to follow")
    machine.sources |= _sources(found)
    reuse = machine.tape.reuse(traversal, found)
    machine.writes.add(("backward", _line(backward_call.at)))
    if reuse is not None and roots[0].lazy and reuse.freed.at.line >= backward_call.at.line:
        reuse = None  # the fragment does not show what recomputes the value in each iteration
    if reuse is not None:
        lines = tuple((j.old.at.file, j.old.at.line) for j in reuse.stale_edges if j.old.at)
        key: object = ("reuse", _line(reuse.freed.at), _line(backward_call.at), lines)
        machine.report(key, reuse)
    else:
        stale = machine.tape.stale(traversal, found)
        if roots[0].lazy and stale is not None and stale.changes[-1:]:
            changed = stale.changes[-1].at
            stale = stale if changed is not None and changed.line < backward_call.at.line else None
        if stale is not None and stale.node is not None and stale.node.at is not None:
            key = ("stale", _line(backward_call.at), _line(stale.node.at))
            machine.report(key, stale)
    machine.tape.free(traversal, found)
    machine.gradients.added(traversal)
    silent_faults.after_backward(machine, traversal, found)
    return whole


def _sources(found: Reached) -> set[str]:
    """Return where the gradients of a backward call arrive.

    That is at leaves, and at whatever is called that is no operation on tensors.
    """
    learning = {leaf.op for leaf in found.leaves if leaf.trainable}
    return learning | {node.op for node in found.live if ops.op(node.op) is ops.UNKNOWN}


def _line(place: CodeLine) -> tuple[str, int]:
    return place.file, place.line


def _flag(kwargs: dict[str, AbstractValue], name: str) -> bool:
    """Return True if a flag is given and not known to be false."""
    value = kwargs.get(name)
    if value is None:
        return False
    return bool(value.value) if isinstance(value, Const) else True


def _roots(
    machine: Machine, values: Iterable[AbstractValue], frame: InterpreterFrame
) -> tuple[TapeNode, ...]:
    """Return the nodes that backward starts from; an unknown tensor gets its node on first use."""
    found: list[TapeNode] = []
    for value in values:
        for part in value_graphs.parts(value):
            if isinstance(part, Unknown) and part.node is None and not (part.data or part.built):
                node = guesses.loss(machine, part.origin, frame)
                node = node or machine.tape.node(part.origin or "unknown", frame.place(), ())
                node.lazy = True
                part.node = node  # type: ignore[misc]
            if part.node is not None:
                found.append(part.node)
    return tuple(found)


def names_of(roots: tuple[TapeNode, ...]) -> tuple[str, ...]:
    """Return names that hold the roots."""
    names = (binding.path for root in roots for binding in reversed(root.names))
    return tuple(dict.fromkeys(names))[:8]


def _missing(machine: Machine, values: list[AbstractValue], frame: InterpreterFrame) -> None:
    """Report a backward call from something that certainly has no graph."""
    lost = value_graphs.lost_by(values)
    if lost is None or (value_graphs.maybe_graph(values) and machine.suspecting != "no-grad"):
        return
    _report(machine, "missing", values, lost, frame, op="backward")


def named(values: Iterable[AbstractValue]) -> tuple[Referrer, ...]:
    """Return the names that hold the values, the latest first."""
    return tuple(
        Referrer(b.path, b.scope, b.kind, b.container, "now", b.frame)  # type: ignore[arg-type]
        for value in values
        if isinstance(value, AbstractTensor)
        for b in reversed(value.storage.names)
    )[:8]


def _check_scalar(
    machine: Machine, values: list[AbstractValue], kind: str, frame: InterpreterFrame
) -> None:
    value = values[0] if values else None
    if isinstance(value, AbstractTensor) and value.scalar is False:
        made = value.node.at if value.node else frame.place()
        _report(machine, "non-scalar", values, Lost("non_scalar", made), frame, op=kind)


def _check_copies(
    machine: Machine, values: list[AbstractValue], found: Reached, frame: InterpreterFrame
) -> None:
    """Report a backward call that ends only at copies of values which had graphs.

    The flag that made them leaves only silenced the error.
    """
    ended = [lost for leaf in found.leaves for lost in leaf.ended if lost.op == "tensor"]
    sure = found.complete and not any(n.lazy or ops.op(n.op) is ops.UNKNOWN for n in found.live)
    if ended and sure and len(ended) == len(found.leaves) and all(lost.cut for lost in ended):
        _report(machine, "missing", values, ended[0], frame, op="backward")


def _check_inputs(
    machine: Machine, options: dict[str, AbstractValue], found: Reached, frame: InterpreterFrame
) -> None:
    """Report a gradient asked of a tensor that the outputs do not depend on.

    Every node on the way must be known, so that no path is overlooked.
    """
    followed = found.complete and not found.stale_edges
    if not followed or any(node.lazy or ops.op(node.op) is ops.UNKNOWN for node in found.live):
        return
    if _flag(options, "materialize_grads"):
        return
    reached = {*found.live, *found.leaves}
    inputs = options.get("inputs", Unknown())
    given = inputs.items if isinstance(inputs, Sequence) else [inputs]
    for tensor in given:
        if not isinstance(tensor, AbstractTensor):
            continue
        node = tensor.node
        if node is None and machine.grad:
            at = tensor.lost.at if tensor.lost is not None else frame.place()
            _report(machine, "flat-input", [tensor], Lost("flat-input", at), frame, FLAT)
        elif node is not None and node.strong and node not in reached:
            _report(machine, "unused", [tensor], Lost("unused", node.at), frame)


def _report(
    machine: Machine,
    why: str,
    values: list[AbstractValue],
    lost: Lost,
    frame: InterpreterFrame,
    message: str = "",
    op: str = "grad",
) -> None:
    """Report, once for each line, something asked of values without the graph that it needs."""
    place = frame.place()
    machine.report(
        (why, place.file, place.line),
        MissingGraph(
            how="predicted",
            message=message,
            at=place,
            stack=frame.stack(),
            holders=named(values),
            ended_at=lost.at,
            ended_stack=lost.stack,
            lost_by=lost.op,
            op=op,
        ),
    )


def refused(
    machine: Machine, tensor: AbstractTensor, op: str, message: str, frame: InterpreterFrame
) -> None:
    """Report an operation that torch refuses on a tensor with a graph."""
    place = frame.place()
    machine.report(
        ("refused", op, place.file, place.line),
        MissingGraph(
            how="predicted",
            message=message,
            at=place,
            stack=frame.stack(),
            holders=named([tensor]),
            ended_at=tensor.node.at if tensor.node is not None else None,
            lost_by=op,
            op=op,
        ),
    )


def without_grad(
    machine: Machine, tensor: AbstractTensor, lost: Lost, frame: InterpreterFrame
) -> None:
    """Report a read of the gradient of a non-leaf."""
    _report(machine, lost.op, [tensor], lost, frame)
