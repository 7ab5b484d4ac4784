"""Wrong gradients of layers that a script writes by hand: traced, matched and fixed."""

from __future__ import annotations

import pytest

from analyzers.request.explaining import explanation_of
from tests.fixing import recognise
from tests.tracing import Tracing

SCRIPT = """
import numpy as np


class Affine:
    def __init__(self, rng, size):
        self.weight = rng.normal(size=(size, size)) * 0.4
        self.bias = np.zeros(size)

    def forward(self, x):
        self.x = x
        return np.dot(x, self.weight) + self.bias

    def backward(self, grad):
        self.grad_weight = np.dot(self.x.T, grad)
        self.grad_bias = grad.sum(axis=0)
        return np.dot(grad, self.weight.T)


class Sigmoid:
    def forward(self, x):
        self.out = 1 / (1 + np.exp(-x))
        return self.out

    def backward(self, grad):
        return self.out * (1 - self.out) * grad


rng = np.random.default_rng(5)
x = rng.normal(size=(48, 6))
layers = [Affine(rng, 6), Sigmoid(), Affine(rng, 6)]
for epoch in range(20):
    out = x
    for layer in layers:
        out = layer.forward(out)
    grad = 2 * (out - x**2) / x.size
    for layer in reversed(layers):
        grad = layer.backward(grad)
    for layer in layers[::2]:
        layer.weight -= 0.5 * layer.grad_weight
        layer.bias -= 0.5 * layer.grad_bias
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("np.dot(grad, self.weight.T)", "np.dot(grad, self.weight)", "returns is not"),
        ("np.dot(self.x.T, grad)", "np.dot(grad.T, self.x)", "stores in `self.grad_weight`"),
        ("grad.sum(axis=0)", "grad[-1]", "stores in `self.grad_bias`"),
        ("self.out * (1 - self.out) * grad", "self.out * grad", "returns is not"),
    ],
)
def test_the_derivative_is_put_in_its_place(
    traced: Tracing, right: str, wrong: str, said: str
) -> None:
    assert right in SCRIPT
    found = recognise(traced, SCRIPT.replace(right, wrong))
    assert found is not None
    assert found.match.pattern == "wrong-gradient"
    assert said in explanation_of(found.match, found.project)
    assert wrong in found.project.code("train.py", found.match.location.line)
    (proposal,) = found.proposals
    assert found.files(proposal)["train.py"] == SCRIPT


def test_right_layers_are_not_matched(traced: Tracing) -> None:
    assert recognise(traced, SCRIPT) is None
