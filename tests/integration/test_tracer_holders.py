"""Which name, or which nameless thing, a run says held the tensor that carried the old graph."""

from __future__ import annotations

import pytest

from tests.tracing import Tracing

HEAD = """\
import functools
import torch
w = torch.ones(3, requires_grad=True)
"""

HELD = {
    "a function's cache": (
        """\
@functools.lru_cache
def features(size):
    return w.exp()
for _ in range(2):
    (features(3) * w).sum().backward()
""",
        ("<module>", "features", "item", "lru_cache", "now"),
    ),
    "a cache without bound, of a method": (
        """\
class Bank:
    @functools.lru_cache(maxsize=None)
    def filters(self, size):
        return w.exp()
bank = Bank()
for _ in range(2):
    (bank.filters(3) * w).sum().backward()
""",
        ("Bank", "self.filters", "attribute", "lru_cache", "now"),
    ),
    "an argument bound beforehand": (
        """\
def objective(scale, base):
    return (base * scale).sum()
loss = functools.partial(objective, base=w.exp())
for _ in range(2):
    loss(w).backward()
""",
        ("<module>", "loss.keywords['base']", "attribute", "dict", "now"),
    ),
    "a partial that only a library holds": (
        """\
def objective(base, scale):
    return (base * scale).sum()
for loss in map(functools.partial(objective, w.exp()), [1.0, 2.0]):
    loss.backward()
""",
        ("<module>", "partial(objective).args[0]", "attribute", "tuple", "now"),
    ),
    "a generator in the head of a loop": (
        """\
def losses():
    base = w.exp()
    while True:
        yield (base * w).sum()
for loss in losses():
    loss.backward()
""",
        ("losses", "base", "local", "Tensor", "now"),
    ),
    "an object that only a library knows": (
        """\
class Objective:
    def __init__(self):
        self.base = w.exp()
    def __call__(self, scale):
        return (self.base * scale).sum()
for loss in map(Objective(), [1.0, 2.0]):
    loss.backward()
""",
        ("Objective", "self.base", "attribute", "Tensor", "now"),
    ),
    "a closure that has let go of it": (
        """\
def recurrent():
    h = torch.zeros(3)
    def step():
        nonlocal h
        h = torch.tanh(h * w)
        return h.sum()
    return step
step = recurrent()
for _ in range(2):
    step().backward()
""",
        ("recurrent", "h", "closure", "Tensor", "freed"),
    ),
    "a default that has let go of it": (
        """\
def step(memory={"h": torch.zeros(3)}):
    memory["h"] = torch.tanh(memory["h"] * w)
    return memory["h"].sum()
for _ in range(2):
    step().backward()
""",
        ("step", "memory['h']", "item", "dict", "freed"),
    ),
}


@pytest.mark.parametrize("what", HELD)
def test_what_held_the_carrier(traced: Tracing, what: str) -> None:
    script, expected = HELD[what]
    reuse = traced(HEAD + script).trace.reuse
    assert reuse is not None
    reported = [
        (h.scope, h.path, h.kind, h.container, h.when)
        for edge in reuse.stale_edges
        for h in edge.holders
    ]
    assert expected in reported


def test_nodes_of_one_library_function_have_the_lines_of_their_callers(traced: Tracing) -> None:
    """The frame of `normalize` may be the same memory each time, at the same instruction."""
    script = """\
    first = torch.nn.functional.normalize(w, dim=0)
    second = torch.nn.functional.normalize(w, dim=0)
    for kept in (first, second, first, second):
        kept.square().sum().backward(retain_graph=kept is first)
    """
    reuse = traced(HEAD + script.replace("\n    ", "\n").lstrip()).trace.reuse
    assert reuse is not None
    assert {edge.old.at.line for edge in reuse.stale_edges if edge.old.at is not None} == {5}


def test_a_generator_of_a_library_makes_nodes_for_more_than_one_line(traced: Tracing) -> None:
    """It goes on at the same instruction, asked from another line."""
    files = {"site-packages/powers.py": "def powers(x):\n    while True:\n        yield x.exp()\n"}
    script = """\
import sys
sys.path.append("site-packages")
from powers import powers
made = powers(w)
one = next(made)
two = next(made)
three = next(made)
for kept in (three, three):
    kept.sum().sin().backward()
"""
    reuse = traced(HEAD + script, files=files).trace.reuse
    assert reuse is not None
    lines = {edge.old.at.line for edge in reuse.stale_edges if edge.old.at is not None}
    assert lines == {10}
