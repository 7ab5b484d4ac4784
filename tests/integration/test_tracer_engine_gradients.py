"""Gradients of hand-written engines that the tracer compares with numerical ones."""

from __future__ import annotations

import pytest

from sandbox.records import Silent
from tests.tracing import Traced, Tracing

ENGINE = """\
import math, random
random.seed(0)

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
        {before_product}
        out = Value({product}, (self, other))
        def push():
            self.grad {by_first}
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
        {seed}
        for node in reversed(order):
            node.push()

a, b = Value(0.5), Value(-1.5)
{before}
for _ in range(3):
    loss = a * b + a * a
    {clear}
    {start}loss.backward()
    a.data -= 0.1 * a.grad
"""
RIGHT = {
    "before_product": "pass",
    "product": "self.data * other.data",
    "by_first": "+= other.data * out.grad",
    "seed": "self.grad = 1.0",
    "before": "",
    "clear": "a.grad = b.grad = 0.0",
    "start": "",
}
REPLACED = {"by_first": "= other.data * out.grad"}


def run(traced: Tracing, changes: dict[str, str], gradcheck: bool = True) -> Traced:
    result = traced(ENGINE.format(**RIGHT | changes), gradcheck=gradcheck)
    assert result.code == 0, result.stderr
    return result


def wrong(result: Traced) -> list[Silent]:
    return [fault for fault in result.trace.silent if fault.kind == "wrong-gradients"]


def test_a_replaced_gradient_is_reported_with_the_operation_and_both_figures(
    traced: Tracing,
) -> None:
    (fault,) = wrong(run(traced, REPLACED))
    assert (fault.function, fault.input, fault.detail) == ("Value.__mul__", "self", "overwritten")
    assert list(fault.params) == ["a"]
    numerical, held = fault.figures
    assert numerical == pytest.approx(-1.5 + 2 * 0.5, abs=1e-3)
    assert held != pytest.approx(numerical, abs=1e-3)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"seed": "pass", "start": "loss.grad = 1.0; "},
        {"product": "self.data * other.data + random.random()", "by_first": "+= 0.0"},
        {"before": "a.grad = 2.0", "clear": "", "by_first": "+= 2 * other.data * out.grad"},
    ],
    ids=["right", "seeded by the script", "random", "added to what was there"],
)
def test_what_is_right_or_cannot_be_known_is_not_reported(
    traced: Tracing, changes: dict[str, str]
) -> None:
    assert not wrong(run(traced, changes))


def test_nothing_is_compared_unless_a_job_asks_for_it(traced: Tracing) -> None:
    assert not wrong(run(traced, REPLACED, gradcheck=False))


def test_what_an_operation_prints_when_it_is_called_again_is_dropped(traced: Tracing) -> None:
    result = run(traced, REPLACED | {"before_product": "print('product')"})
    assert wrong(result)
    assert result.stdout.count("product") == 2 * 3
