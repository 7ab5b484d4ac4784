"""What a loop goes through, whichever statement it is written with."""

from __future__ import annotations

import ast

import pytest

from analyzers.explain.reuse.iteration_sources import taken_from
from analyzers.reading import read
from analyzers.request.causes import classify
from analyzers.source.loop_iterations import iterated
from analyzers.source.project import LOOPS, Project

FOR = "for i, loss in enumerate(losses):\n    loss.backward()"
WALKER = """\
walker = iter(enumerate(losses))
while True:
    item = next(walker, STOP)
    if item is STOP:
        break
    i, loss = item
    loss.backward()"""
QUEUE = "while losses:\n    loss = losses.pop(0)\n    loss.backward()"
COUNT = "i = 0\nwhile i < len(losses):\n    losses[i].backward()\n    i += 1"


def _loop(text: str) -> tuple[ast.Module, ast.For | ast.AsyncFor | ast.While]:
    tree = Project({"train.py": text + "\n"}).modules["train.py"].tree
    return tree, next(node for node in tree.body if isinstance(node, LOOPS))


@pytest.mark.parametrize(
    ("text", "names", "over", "taken"),
    [
        (FOR, {"i", "loss"}, "enumerate(losses)", "losses"),
        (WALKER, {"i", "loss"}, "enumerate(losses)", "losses"),
        (f"{WALKER}\nprint(walker)", {"item", "i", "loss"}, "enumerate(losses)", "losses"),
        (QUEUE, {"loss"}, "losses", "losses"),
        (COUNT, {"i"}, "i < len(losses)", None),
    ],
)
def test_what_passes_go_through(text: str, names: set[str], over: str, taken: str | None) -> None:
    tree, loop = _loop(text)
    through = iterated(loop, tree)
    assert through is not None
    assert through.names == names
    assert ast.unparse(through.over) == over
    assert taken_from(loop, tree, "loss") == taken


def test_a_loop_without_an_end_goes_through_nothing() -> None:
    tree, loop = _loop("while True:\n    loss = step()\n    loss.backward()")
    assert iterated(loop, tree) is None


SCRIPT = """\
import torch
from torch import nn

model = nn.Linear(3, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(4, 3), torch.tensor([0, 1, 0, 1])
error = nn.functional.cross_entropy(model(x), y, reduction="none")
opt.zero_grad()
"""
EACH = {
    "for": "for i in range(4):\n    error[i].backward()\n",
    "while": "i = 0\nwhile i < 4:\n    error[i].backward()\n    i += 1\n",
    "next": (
        "walker = iter(range(4))\nwhile True:\n    i = next(walker, None)\n"
        "    if i is None:\n        break\n    error[i].backward()\n"
    ),
}


@pytest.mark.parametrize("way", EACH)
def test_a_backward_for_each_sample_is_one_however_the_loop_is_written(way: str) -> None:
    project = Project({"train.py": SCRIPT + EACH[way] + "opt.step()\n"})
    cause = classify(project, read(project).evidence)[0]
    assert cause.pattern == "per-sample-loop"
    assert cause.candidates[0].strategy == "sum-then-backward"
