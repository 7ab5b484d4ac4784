"""What layers that a script writes by hand give back, against numerical derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sandbox.inside.core.frames import Json
from sandbox.inside.custom_engines.layer_gradients import LayerGradients

DENSE = """
class Layer:
    def __init__(self, rng):
        self.W, self.b = rng.normal(size=(3, 3)), np.zeros(3)

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, grad):
        self.dW = self.x.T @ grad
        self.db = grad.sum(axis=0)
        return grad @ self.W.T
"""
STORING = """
class Layer:
    def __init__(self, rng):
        self.weights = rng.normal(size=(3, 3))

    def forward(self, inputs):
        self.inputs = inputs
        self.output = np.dot(inputs, self.weights)

    def backward(self, dvalues):
        self.dweights = np.dot(self.inputs.T, dvalues)
        self.dinputs = np.dot(dvalues, self.weights.T)
"""
RELU = """
class Layer:
    def __init__(self, rng): ...

    def forward(self, x):
        self.x = x
        return np.maximum(0, x)

    def backward(self, grad):
        return grad * (self.x > 0)
"""
OUTER = "self.x.T @ grad"


def found(source: str, old: str = "", new: str = "") -> Json | None:
    """The record of a layer after one forward and one backward call."""
    assert old in source
    names: dict[str, Any] = {"np": np}
    exec(source.replace(old, new) if old else source, names)
    layers, kind = LayerGradients(), names["Layer"]
    layers.observe(kind, dict(vars(kind)))
    rng = np.random.default_rng(1)
    layer, x = kind(rng), rng.normal(size=(5, 3))
    made = layer.forward(x)
    made = layer.output if made is None else made
    layer.backward(rng.normal(size=made.shape))
    return layers.found()


@pytest.mark.parametrize("source", [DENSE, STORING, RELU])
def test_right_layers_are_not_blamed(source: str) -> None:
    assert found(source) is None


@pytest.mark.parametrize(
    ("source", "old", "new", "wrong", "held"),
    [
        (DENSE, "self.W.T", "self.W", "x", ""),
        (DENSE, OUTER, "grad.T @ self.x", "self.W", "self.dW"),
        (DENSE, "grad.sum(axis=0)", "grad[0]", "self.b", "self.db"),
        (STORING, "self.weights.T", "self.weights", "inputs", "self.dinputs"),
        (STORING, "(self.inputs.T", "(-self.inputs.T", "self.weights", "self.dweights"),
        (RELU, "(self.x > 0)", "np.maximum(0, self.x)", "x", ""),
    ],
)
def test_a_wrong_gradient_is_named(source: str, old: str, new: str, wrong: str, held: str) -> None:
    record = found(source, old, new)
    assert record is not None
    assert (record["input"], record["gradient"], record["detail"]) == (wrong, held, "layer")
    assert record["function"] == "Layer.backward"


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (DENSE, OUTER, f"{OUTER} / len(grad)"),  # a mean over the batch
        (DENSE, OUTER, f"{OUTER} + 0.1 * self.W"),  # a penalty
        (DENSE, OUTER, f"np.clip({OUTER}, -0.1, 0.1)"),
        (DENSE, "x @ self.W + self.b", "np.tanh(x @ self.W + self.b)"),  # given that of its sum
        (DENSE, "x @ self.W +", "x @ (self.W * (np.random.rand(3, 3) > 0.5)) +"),  # dropout
        (RELU, "grad * (self.x > 0)", "grad"),  # the loss has the derivative
        (RELU, "grad * (self.x > 0)", "(grad > 0) * 1.0"),  # the derivative at what is given
    ],
)
def test_conventions_are_not_blamed(source: str, old: str, new: str) -> None:
    assert found(source, old, new) is None
