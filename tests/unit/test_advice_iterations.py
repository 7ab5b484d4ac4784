"""What is taken for a state that outlives an iteration."""

from __future__ import annotations

import ast

import pytest

from analyzers.advice.iterations import carried
from analyzers.source.project import Module

TRAINING = "h = None\nfor x in data:\n    {}\n    h.sum().backward()\n"
OUTLIVES = {
    "a state": TRAINING.format("out, h = rnn(x, h)"),
    "by its keyword": TRAINING.format("out, h = rnn(x, hx=h)"),
    "alone": TRAINING.format("h = cell(h)"),
    "reset under a condition": TRAINING.format("if new: h = zeros(1)\n    h = cell(x, h)"),
    "of an attribute": "def forward(self, x):\n    y, self.h = self.rnn(x, self.h)\n    return y\n",
    "in a loop over time": "for x in sequence:\n    h = cell(x, h)\n",
}
ENDS = {
    "made in each call": "def forward(self, g):\n    h = rand(9)\n    h = self.linear(h)\n",
    "layer behind layer": "def forward(self, x):\n    x = self.a(x)\n    x = self.b(x)\n",
    "layers in a loop": "def forward(self, x):\n    for layer in self.all:\n        x = layer(x)\n",
    "made in both branches": TRAINING.format(
        "if new: h = zeros(1)\n    else: h = ones(1)\n    h = cell(x, h)"
    ),
    "made in each iteration": TRAINING.format("h = zeros(1)\n    h = cell(x, h)"),
    "time within a batch": TRAINING.format("h = zeros(1)\n    for t in x:\n        h = cell(t, h)"),
}


def _found(text: str) -> list[str]:
    module = Module("train.py", text)
    return [name for node in ast.walk(module.tree) if (name := carried(node, module))]


@pytest.mark.parametrize("kind", OUTLIVES)
def test_a_state_that_outlives_an_iteration_is_found(kind: str) -> None:
    assert _found(OUTLIVES[kind])


@pytest.mark.parametrize("kind", ENDS)
def test_what_is_made_again_is_none(kind: str) -> None:
    assert _found(ENDS[kind]) == []
