"""Shapes that a script spells out, and what is reported of a backward call from several numbers."""

from __future__ import annotations

import ast

import pytest

from analyzers.evidence import MissingGraph
from analyzers.reading import read
from analyzers.reading.importing import module_frame
from analyzers.reading.machine import Machine
from analyzers.reading.values import AbstractTensor, Shape
from analyzers.source.project import Project

HEAD = """\
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
w = torch.ones(4, requires_grad=True)
x = torch.randn(2, 4)
"""

SHAPES: dict[str, Shape | None] = {
    "torch.zeros(2, 3)": (2, 3),
    "torch.rand((5,))": (5,),
    "torch.rand(batch_size, 3)": (None, 3),
    "torch.tensor([[1.0, 2.0], [3.0, 4.0]])": (2, 2),
    "torch.full((2, 1), 0.5)": (2, 1),
    "torch.randint(0, 9, (3, 2))": (3, 2),
    "torch.linspace(0, 1, 7)": (7,),
    "torch.zeros_like(x)": (2, 4),
    "x + 1": (2, 4),
    "x * torch.ones(2, 1)": (2, 4),
    "torch.rand(n, 1) * x": (2, 4),
    "torch.ones(3, 1) * torch.ones(5)": (3, 5),
    "x @ w": (2,),
    "w @ w": (),
    "x @ torch.ones(4, 7)": (2, 7),
    "net(x)": (2, 1),
    "net(torch.rand(batch_size, 4))": (None, 1),
    "nn.Parameter(torch.zeros(3))": (3,),
    "x.sum()": (),
    "x.mean(1)": (2,),
    "x.mean(dim=-1, keepdim=True)": (2, 1),
    "torch.cat([x, x], 1)": (2, 8),
    "torch.stack([w, w, w])": (3, 4),
    "x.t()": (4, 2),
    "x.detach().exp().clone()": (2, 4),
    "x[:, :1]": None,
    "elsewhere(x)": None,
    "x * elsewhere": None,
    "x.max(1)": None,
    "torch.cat([])": None,
    "torch.vmap()": None,
}


@pytest.mark.parametrize("expression", SHAPES)
def test_a_shape_is_known_where_the_script_reports_it(expression: str) -> None:
    machine = Machine(Project({"train.py": HEAD}))
    frame = module_frame(machine, "train.py", "__main__")
    assert frame is not None
    value = machine.evaluate(ast.parse(expression, mode="eval").body, frame)
    assert (value.shape if isinstance(value, AbstractTensor) else None) == SHAPES[expression]


def reported(body: str) -> list[tuple[str, str]]:
    evidence = read(Project({"train.py": HEAD + body})).evidence
    return [(e.lost_by, e.op) for e in evidence if isinstance(e, MissingGraph)]


@pytest.mark.parametrize(
    ("body", "op"),
    [
        ("((x @ w - 1) ** 2).backward()\n", "backward"),
        ("net(x).backward()\n", "backward"),
        ("net(x).sum(1).backward()\n", "backward"),
        ("torch.autograd.grad(net(x * w), w)\n", "grad"),
    ],
)
def test_a_walk_from_several_numbers_is_reported(body: str, op: str) -> None:
    assert reported(body) == [("non_scalar", op)]


@pytest.mark.parametrize(
    "body",
    [
        "net(x).backward(torch.ones(2, 1))\n",
        "net(x).mean().backward()\n",
        "net(x[:1]).backward()\n",
        "net(torch.rand(batch_size, 4)).backward()\n",
        "(w @ w).backward()\n",
        "torch.autograd.grad(net(x * w), w, torch.ones(2, 1))\n",
        "torch.autograd.grad(net(x * w), w, grad_outputs=weights)\n",
        "nn.functional.mse_loss(net(x), net(x) * 2).backward()\n",
    ],
)
def test_a_walk_from_what_may_be_one_number_is_not(body: str) -> None:
    assert reported(body) == []
