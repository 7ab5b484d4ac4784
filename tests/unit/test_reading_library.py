"""What the library's own objects do with graphs: layers, data sets, dictionaries, copies, ranks."""

from __future__ import annotations

import pytest

from analyzers.evidence import Evidence, GraphReuse, InplaceChange, MissingGraph
from analyzers.reading import read
from analyzers.source.project import Project

HEAD = """\
import copy
from collections import defaultdict
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
x = torch.randn(2, 4)
"""
OFFSET = HEAD.count("\n")
WALK = "net(x).sum().backward()\n"

DATA = """\
class Data(Dataset):
    def __init__(self, inputs):
        self.inputs = inputs
    def __getitem__(self, i):
        return self.inputs[i], i
for row, _ in DataLoader(Data(INPUTS)):
    net(row).sum().backward()
"""
SHIFTED = """\
class Shifted(nn.Linear):
    def forward(self, x):
        CHANGE
        return nn.functional.linear(x, self.weight, self.bias)
Shifted(4, 4)(x).sum().backward()
"""
KEPT = """\
kept = defaultdict(list)
for _ in range(3):
    kept["loss"].append(net(x).sum())
    sum(kept["loss"]).backward()
"""
FOUND = {
    "a data set that holds a graph": (DATA.replace("INPUTS", "net(x)"), GraphReuse, 7),
    "an inherited weight": (SHIFTED.replace("CHANGE", "self.weight += 1"), InplaceChange, 3),
    "what a norm keeps": (
        "h = net(x)\ny = nn.LayerNorm(4)(h)\nh += 1\n(h + y).sum().backward()\n",
        InplaceChange,
        4,
    ),
    "a list that a dictionary made": (KEPT, GraphReuse, 4),
    "a dictionary made of pairs": (
        "h = net(x)\nlosses = dict(zip(['a', 'b'], [h.sum(), h.exp().sum()]))\n"
        "for loss in losses.values():\n    loss.backward()\n",
        GraphReuse,
        4,
    ),
    "a copy of a layer that keeps its loss": (
        "net.last = net(x).sum()\ntwin = copy.deepcopy(net)\n" + WALK,
        MissingGraph,
        2,
    ),
    "ranks": ("r = net(x).argsort().float()\n(r * x).sum().backward()\n", MissingGraph, 2),
    "a flag of what is computed": ("y = net(x)\ny.requires_grad = False\n" + WALK, MissingGraph, 2),
    "its method": ("y = net(x)\ny.requires_grad_(False)\n" + WALK, MissingGraph, 2),
    "a gradient's gradient": (
        "v = torch.ones(2, 4, requires_grad=True)\n"
        "(g,) = torch.autograd.grad(net(v).sum(), v, create_graph=True)\n"
        "torch.autograd.grad(g, v)\n",
        MissingGraph,
        3,
    ),
}


def found(body: str) -> set[tuple[type[Evidence], int]]:
    places = set()
    for piece in read(Project({"train.py": HEAD + body})).evidence:
        at = piece.reached.at if isinstance(piece, GraphReuse) else piece.at
        places.add((type(piece), at.line - OFFSET if at is not None else 0))
    return places


@pytest.mark.parametrize("name", FOUND)
def test_a_fault_is_found_where_it_shows(name: str) -> None:
    body, kind, line = FOUND[name]
    assert found(body) == {(kind, line)}


HEALTHY = {
    "a data set of plain data": DATA.replace("INPUTS", "x"),
    "a data set of detached features": DATA.replace("INPUTS", "net(x).detach()"),
    "an inherited weight that is added to": SHIFTED.replace("CHANGE", "x = x + self.weight.sum()"),
    "a norm's output, changed": (
        "y = nn.LayerNorm(4)(net(x)) + 0\ny += 1\ny.sum().backward()\n"
    ),
    "a dictionary of numbers": KEPT.replace("net(x).sum())", "net(x).sum().item())").replace(
        "sum(kept[\"loss\"])", "net(x).sum()"
    ),
    "a copy of a layer that keeps a number": (
        "net.last = net(x).sum().item()\ntwin = copy.deepcopy(net)\n" + WALK
    ),
    "an order to index by": "y = net(x)\ny[y.argsort(0)[0]].sum().backward()\n",
    "a layer that is called with nothing": "nn.Linear(4, 4)()\n" + WALK,
    "a flag of a leaf": "w = torch.ones(4, requires_grad=True)\nw.requires_grad = False\n" + WALK,
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_the_same_without_the_fault_is_healthy(name: str) -> None:
    assert found(HEALTHY[name]) == set()
