"""Updates that a text makes itself, on gradients that nothing in it clears, are read."""

from __future__ import annotations

import pytest

from analyzers.request.causes import classify
from analyzers.request.examine import examine

FIT = """\
import torch
from data import batches
from nets import Net

model = Net()
for x, y in batches:
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad
"""
ENGINE = """\
from engine import Value
from nn import MLP

model = MLP(2, [8, 1])
for k in range(100):
    total = sum((model([Value(a), Value(b)]) - t) ** 2 for a, b, t in points)
    total.backward()
    for p in model.parameters():
        p.data += -0.05 * p.grad
"""
MADE = FIT.replace("model = Net()\n", "").replace("    loss =", "    model = Net()\n    loss =")


def reported(script: str) -> list[tuple[str, int, list[str]]]:
    found = examine(script, "fit.py", {}, "")
    return [
        (c.pattern, c.location.line, [fix.files["fit.py"].splitlines()[7] for fix in c.candidates])
        for c in classify(found.project, found.reading.evidence)
    ]


@pytest.mark.parametrize(
    ("script", "line", "fixes"),
    [
        (FIT, 8, ["    model.zero_grad()"]),
        (FIT.replace("p.data -= ", "p.data = p.data - "), 8, ["    model.zero_grad()"]),
        (FIT.replace("model.parameters()", "(a, b)"), 8, []),
    ],
)
def test_what_nothing_clears_is_reported(script: str, line: int, fixes: list[str]) -> None:
    assert reported(script) == [("missing-zero-grad", line, fixes)]


@pytest.mark.parametrize(
    "script",
    [
        f"{FIT}        p.grad = None\n",
        f"{FIT}    model.zero_grad()\n",
        f"{FIT}        p.grad *= 0\n",
        ENGINE,  # its backward may clear them
        MADE,  # another model in each iteration
        FIT.replace("p.data -= ", "steps.append(").replace("p.grad", "p.grad)"),
    ],
)
def test_what_may_be_cleared_is_not(script: str) -> None:
    assert reported(script) == []
