"""Parameters that no optimizer holds are meant to stay as they are if weights were loaded."""

from __future__ import annotations

import pytest

from analyzers.explain.kept_parameters import LOADED, UNHELD, reason_to_stay
from analyzers.source.project import Project

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 1)

    @classmethod
    def load(cls, path):
        net = cls()
        net.body = Body.from_pretrained(path)
        return net.{inside}

    def forward(self, x):
        return self.head(self.body(x))

optimizer = torch.optim.SGD({net}.head.parameters(), lr=0.1)
"""
NAMES = ["net.body.weight", "net.body.bias"]


@pytest.mark.parametrize(
    ("net", "inside", "loaded"),
    [
        ("Net()", "eval()", False),
        ("Net()", "load", False),
        ("Net.load('weights.pt')", "eval()", True),
        ("getattr(Net, 'load')('weights.pt')", "eval()", True),
    ],
    ids=["never named", "named by itself alone", "called", "named"],
)
def test_a_function_that_nothing_calls_loads_no_weights(
    net: str, inside: str, *, loaded: bool
) -> None:
    project = Project({"main.py": NET.format(net=net, inside=inside)}, "main.py")
    assert bool(reason_to_stay(NAMES, UNHELD, project)) is loaded


@pytest.mark.parametrize(
    ("base", "loaded"), [("nn.Module", False), ("lightning.LightningModule", True)]
)
def test_a_library_may_call_what_the_script_does_not(base: str, *, loaded: bool) -> None:
    script = NET.format(net="Net()", inside="eval()").replace("nn.Module)", f"{base})")
    project = Project({"main.py": script}, "main.py")
    assert bool(reason_to_stay(NAMES, UNHELD, project)) is loaded


@pytest.mark.parametrize("detail", ["", LOADED])
def test_a_run_sees_what_is_loaded(detail: str) -> None:
    project = Project({"main.py": NET.format(net="Net()", inside="eval()")}, "main.py")
    assert bool(reason_to_stay(NAMES, UNHELD, project, detail)) is (detail == LOADED)


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ("encoder.train()", False),
        ("encoder.train()\nencoder.eval()", True),
        ("encoder.train()\nasked = encoder.head.parameters()", True),  # a part of it learns
        ("model.train()", True),
    ],
)
def test_what_is_set_to_train_is_meant_to_learn(lines: str, *, kept: bool) -> None:
    project = Project({"main.py": f"encoder.load_state_dict(state)\n{lines}\n"}, "main.py")
    assert bool(reason_to_stay(["encoder.0.weight"], UNHELD, project, LOADED)) is kept
