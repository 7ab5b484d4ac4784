"""In-place changes, missing graphs and silent faults, read from source alone."""

from __future__ import annotations

import textwrap

import pytest

from analyzers.evidence import Evidence, InplaceChange, MissingGraph
from analyzers.reading import read
from analyzers.source.project import Project

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
head = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.randn(4, requires_grad=True)
x = torch.randn(2, 4)
"""
OFFSET = HEAD.count("\n")


def found(body: str) -> tuple[Evidence, ...]:
    return read(Project({"train.py": HEAD + textwrap.dedent(body)})).evidence


STALE = {
    "a step between two walks": (
        "a, b = net(x).sum(), net(x).pow(2).sum()\na.backward()\nopt.step()\nb.backward()\n",
        (3, "step"),
    ),
    "adding to what relu saved": (
        "y = F.relu(net(x))\ny += 1\ny.sum().backward()\n",
        (2, "add_"),
    ),
    "a method that writes": ("y = net(x).sigmoid()\ny.mul_(2)\ny.sum().backward()\n", (2, "mul_")),
    "a slice that is written": (
        "y = net(x).exp()\ny[0] = 0\ny.sum().backward()\n",
        (2, "copy_"),
    ),
    "a step on the way to the last of three names": (
        "loss = {'a': head(x).sum(), 'b': head(x).sum(), 'c': net(x).pow(2).sum()}\n"
        "for name in ('a', 'b', 'c'):\n    opt.zero_grad()\n    loss[name].backward()\n"
        "    opt.step()\n",
        (5, "step"),
    ),
    "a step once a buffer is full": (
        "held, loss = [], net(x).pow(2).sum()\nfor i in range(50):\n    held.append(i)\n"
        "    if len(held) >= 32:\n        opt.step()\nloss.backward()\n",
        (5, "step"),
    ),
    "a step under layers of a class of the script's own": (
        "class Deep(nn.Sequential):\n    def __init__(self):\n"
        "        super().__init__(nn.Linear(4, 4), nn.Tanh())\n"
        "        self.add_module('last', nn.Linear(4, 1))\n"
        "deep = Deep()\nmine = torch.optim.SGD(deep.parameters(), lr=0.1)\n"
        "loss = deep(x).sum()\nmine.step()\nloss.backward()\n",
        (8, "step"),
    ),
    "a layer that works in place": (
        "act = nn.ReLU(inplace=True)\ny = net(x).tanh()\nz = act(y)\n(y + z).sum().backward()\n",
        (3, "relu_"),
    ),
}


@pytest.mark.parametrize("name", STALE)
def test_a_change_under_a_saved_value_is_found(name: str) -> None:
    body, (line, op) = STALE[name]
    (change,) = found(body)
    assert isinstance(change, InplaceChange)
    assert change.kind == "saved"
    where = change.changes[0].at
    assert where is not None
    assert (where.line - OFFSET, change.changes[0].op) == (line, op)


def test_a_step_names_the_parameter_as_changed() -> None:
    (change,) = found(STALE["a step between two walks"][0])
    assert isinstance(change, InplaceChange)
    assert change.is_parameter


FORBIDDEN = {
    "a leaf": ("w += 1\n", "leaf"),
    "a leaf by method": ("w.mul_(2)\n", "leaf"),
    "a slice of a leaf": ("w[0] = 1.0\n", "leaf"),
    "one of several views": ("a, b = net(x).chunk(2)\na += 1\n", "view"),
    "a row of an iteration": ("for row in net(x):\n    row += 1\n", "view"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden_writes_are_found(name: str) -> None:
    body, kind = FORBIDDEN[name]
    (change,) = found(body + "net(x).sum().backward()\n")
    assert isinstance(change, InplaceChange)
    assert change.kind == kind


LOST = {
    "item": "loss = torch.tensor(net(x).sum().item())\nloss.backward()\n",
    "detach": "loss = net(x).detach().pow(2).sum()\nloss.backward()\n",
    "data": "loss = F.mse_loss(net(x).data, x)\nloss.backward()\n",
    "tensor": "parts = [net(x).sum()]\nloss = torch.tensor(parts).sum()\nloss.backward()\n",
    "argmax": "loss = F.l1_loss(net(x).argmax(1).float(), x)\nloss.backward()\n",
    "no_grad": "with torch.no_grad():\n    loss = net(x).sum()\nloss.backward()\n",
}


@pytest.mark.parametrize("cause", LOST)
def test_what_ended_the_graph_is_named(cause: str) -> None:
    (missing,) = found(LOST[cause])
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == cause
    assert missing.at is not None
    assert HEAD.count("\n") + LOST[cause].count("\n") == missing.at.line


def test_a_loss_of_many_values_is_found() -> None:
    (missing,) = found("loss = F.mse_loss(net(x), x, reduction='none')\nloss.backward()\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "non_scalar"


def test_several_losses_stacked_are_not_one_number() -> None:
    (missing,) = found("parts = [net(row).sum() for row in x]\ntorch.stack(parts).backward()\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "non_scalar"


UNREACHED = {
    "unused": "t = torch.rand(3, requires_grad=True)\nu = net(x * w).sum()\n",
    "flat-input": "t = torch.rand(3)\nu = net(x * t * w).sum()\n",
}


@pytest.mark.parametrize("why", UNREACHED)
def test_a_gradient_of_what_the_output_was_not_made_from_is_found(why: str) -> None:
    (missing,) = found(UNREACHED[why] + "g = torch.autograd.grad(u, (w, t))\n")
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == why
    assert missing.holders[0].path == "t"


def test_a_leaf_that_its_own_update_replaced_is_found() -> None:
    missing = found("for _ in range(3):\n    (x @ w).sum().backward()\n    w = w - 0.1 * w.grad\n")[
        0
    ]
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "rebound"
    assert missing.ended_at is not None
    assert missing.ended_at.line == OFFSET + 3


NO_LEAF = {
    "its gradient is read": "y = net(x)\ny.pow(2).sum().backward()\nprint(y.grad)\n",
    "it is optimised": "z = w * 2\nfree = torch.optim.SGD([z], lr=1.0)\nz.sum().backward()\n",
}


@pytest.mark.parametrize("name", NO_LEAF)
def test_a_value_that_is_no_leaf_is_found(name: str) -> None:
    missing = found(NO_LEAF[name])[0]
    assert isinstance(missing, MissingGraph)
    assert missing.lost_by == "nonleaf"


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("y = net(x)\nloss = y.sum()\nloss.backward()\nprint(y.numpy())\n", "numpy"),
        ("import numpy as np\ny = net(x)\ny.sum().backward()\nprint(np.exp(-y))\n", "numpy"),
        ("import copy\nkept = copy.deepcopy({'y': net(x)})\nnet(x).sum().backward()\n", "deepcopy"),
    ],
)
def test_what_a_tensor_with_a_history_refuses_is_found(body: str, op: str) -> None:
    (missing,) = found(body)
    assert isinstance(missing, MissingGraph)
    assert missing.op == op
