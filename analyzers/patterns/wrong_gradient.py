"""A hand-written engine, or layer, computes another gradient than its forward has.

What happens: an operation gives its inputs a wrong derivative, or replaces a gradient in place of
adding to it; or the backward visits the nodes in a wrong order, or starts from a gradient of zero.
Often nothing is raised: the loss falls more slowly, or does not fall at all. Or values overflow.

Why: the gradient of a value is the sum, over all operations that use it, of their results'
gradients times their derivatives. So each operation must add its share, after its own result's
gradient is complete.

The fix: write `+=` where gradients are stored, and correct the derivative. Let the backward go
through the nodes in reverse topological order, from a gradient of one.

When this fix is wrong: if the backward differs on purpose, like a straight-through estimator.

Broken::

    class Value:
        def __init__(self, data, parents=()):
            self.data, self.parents, self.grad = data, parents, 0.0
            self.push = lambda: None

        def __add__(self, other):
            out = Value(self.data + other.data, (self, other))

            def push():
                self.grad += out.grad
                other.grad += out.grad

            out.push = push
            return out

        def __mul__(self, other):
            out = Value(self.data * other.data, (self, other))

            def push():
                self.grad = other.data * out.grad
                other.grad = self.data * out.grad

            out.push = push
            return out

        def backward(self):
            order, seen = [], set()

            def visit(node):
                if node not in seen:
                    seen.add(node)
                    for parent in node.parents:
                        visit(parent)
                    order.append(node)

            visit(self)
            self.grad = 1.0
            for node in reversed(order):
                node.push()

    w = Value(0.5)
    for _ in range(8):
        loss = w * Value(2.0) + w * w
        w.grad = 0.0
        loss.backward()
        w.data -= 0.1 * w.grad

Fixed::

    class Value:
        def __init__(self, data, parents=()):
            self.data, self.parents, self.grad = data, parents, 0.0
            self.push = lambda: None

        def __add__(self, other):
            out = Value(self.data + other.data, (self, other))

            def push():
                self.grad += out.grad
                other.grad += out.grad

            out.push = push
            return out

        def __mul__(self, other):
            out = Value(self.data * other.data, (self, other))

            def push():
                self.grad += other.data * out.grad
                other.grad += self.data * out.grad

            out.push = push
            return out

        def backward(self):
            order, seen = [], set()

            def visit(node):
                if node not in seen:
                    seen.add(node)
                    for parent in node.parents:
                        visit(parent)
                    order.append(node)

            visit(self)
            self.grad = 1.0
            for node in reversed(order):
                node.push()

    w = Value(0.5)
    for _ in range(8):
        loss = w * Value(2.0) + w * w
        w.grad = 0.0
        loss.backward()
        w.data -= 0.1 * w.grad
"""

from __future__ import annotations

from dataclasses import replace

from analyzers.evidence import Evidence, SilentFault
from analyzers.explain.listed import some
from analyzers.explain.pattern import GraphCarrier, Match, evidence_in
from analyzers.explain.reuse.describe import line
from analyzers.explain.silent_matches import matched, silent
from analyzers.repair.engine.forward_derivative import as_forward_derived, written_by
from analyzers.repair.engine.operations import (
    DERIVATIVE,
    LAYER,
    ORDER,
    OVERWRITTEN,
    SEED,
    WRONG,
    EngineOperation,
    add_to_gradients,
    as_derived,
    set_the_seed,
    times_the_result,
)
from analyzers.repair.engine.visiting_order import in_topological_order
from analyzers.source.project import Project
from provenance import CodeLine

ID = "GM052"
NAME = "wrong-gradient"
FAMILY = "silent"
SHOWN_AS = "derivative"
TITLE = "A hand-written engine computes a wrong gradient"
SEEN_AS = WRONG
TITLES = {
    OVERWRITTEN: "An operation replaces a gradient in place of adding to it",
    DERIVATIVE: "An operation gives an input a wrong derivative",
    SEED: "The backward starts from a gradient of zero",
    ORDER: "The backward visits nodes before their gradients are complete",
    LAYER: "A layer's backward is not the derivative of its forward",
}
REMEDIES = {
    OVERWRITTEN: "write `+=` wherever an operation stores a gradient.",
    DERIVATIVE: "give each input the derivative of what the operation computes, times the gradient "
    "of the result.",
    SEED: "set the gradient of the value that the backward starts from to one.",
    ORDER: "visit each node once, after all nodes that were made from it: append a node to a list "
    "after its inputs (depth first), and go through the list backwards.",
    LAYER: "let `backward` return, and store for each parameter, the derivative of what `forward` "
    "computes, times the gradient that it is given.",
}
PREFERS = (
    add_to_gradients,
    times_the_result,
    as_derived,
    set_the_seed,
    in_topological_order,
    as_forward_derived,
)


def match(evidence: Evidence, project: Project) -> Match | None:
    """Match a gradient that differs from the numerical one, at the line that writes it."""
    fault = silent(evidence, SEEN_AS)
    operation = EngineOperation.of(fault, project) if fault is not None else None
    if fault is None or fault.at is None:
        return None
    own = list(operation.contributions(fault.input)) if operation is not None else []
    at = CodeLine(fault.at.file, own[0][1].lineno) if fault.input and own else fault.at
    if operation is not None and fault.detail == LAYER:
        given = written_by(operation.function, fault.gradient)
        at = CodeLine(fault.at.file, given.lineno) if given is not None else at
    owner = fault.input or (operation.root if operation is not None else "")
    path = fault.gradient if fault.detail == LAYER else f"{owner}.{fault.gradient}"
    carrier = GraphCarrier(path, at) if owner and path else None
    found = matched(NAME, fault, at, carrier, TITLES.get(fault.detail, ""))
    return replace(found, remedy=REMEDIES.get(fault.detail, "")) if found is not None else None


def explain(match: Match, project: Project) -> str:
    """Explain which operation it is, and how far the gradient is off."""
    fault = evidence_in(match, SilentFault)
    function, given = f"`{fault.function}`", f"`{fault.input}.{fault.gradient}`"
    if fault.detail == LAYER:
        gives = f"stores in `{fault.gradient}`" if fault.gradient else "returns"
        what = f"What {function} {gives} is not the derivative of `forward` by `{fault.input}`, "
        what += "times the gradient that it is given."
        return f"{what} See {line(match.location, project)}. {_entry(fault)}"
    what = {
        OVERWRITTEN: f"{function} replaces {given}. What another operation that uses the same "
        "value has put there is lost.",
        DERIVATIVE: f"What {function} gives {given} is not the derivative of what it computes, "
        "times the gradient of its result.",
        SEED: f"{function} never sets the gradient of the value that it starts from, so every "
        "gradient stays zero.",
        ORDER: f"{function} passes gradients on before they are complete: a node must wait for all "
        "operations that use it.",
    }.get(fault.detail, f"{function} computes a wrong gradient.")
    return f"{what} See {line(match.location, project)}. {_figures(fault)}"


def _entry(fault: SilentFault) -> str:
    numerical, held = fault.figures
    return (
        f"At one entry it is {held:.4g}; the numerical one, from calling the layer again with that "
        f"entry moved a little, is {numerical:.4g}."
    )


def _figures(fault: SilentFault) -> str:
    numerical, held = fault.figures
    whose = some(fault.params) or "an input of the graph"
    return (
        f"After the first backward the gradient of {whose} is {held:.4g}; the numerical one, "
        f"from running the graph again with that value moved a little, is {numerical:.4g}."
    )
