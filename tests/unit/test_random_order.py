"""Iterations on samples in a random order, and what goes on from one to the next all the same."""

from __future__ import annotations

import ast

import pytest

from analyzers.source.project import Project
from analyzers.source.random_order import fed_at_random

_BEGIN = """\
import random, torch
from torch import nn
from torch.utils.data import DataLoader

class Room:
    def step(self, action):
        self.seen = self.table[random.randrange(5), action]
        return self.seen

def react(action):
    return table[random.randrange(5), action]

def pick():
    return data[random.randrange(9)]

room, cell = Room(), nn.GRUCell(4, 8)
loader = DataLoader(data, shuffle=True)
"""
_INDEXED = "for n in range(9):\n    x = data[torch.randint(0, 9, (4,))]\n"


def is_fed(loop: str) -> bool:
    project = Project({"train.py": _BEGIN + loop}, "train.py")
    loops = (n for n in ast.walk(project.modules["train.py"].tree) if isinstance(n, ast.For))
    return any(fed_at_random("h", one, project) for one in loops)


@pytest.mark.parametrize(
    "loop",
    [
        "for x in loader:\n    h = cell(x, h)\n",
        _INDEXED + "    h = cell(x, h)\n",
        _INDEXED + "    for t in range(3):\n        h = torch.tanh(x[t] @ w + h @ u)\n",
        "for n in range(9):\n    out, h = cell(pick(), h)\n",
    ],
)
def test_a_state_does_not_go_on_from_a_sample_to_another(loop: str) -> None:
    assert is_fed(loop)


@pytest.mark.parametrize(
    "loop",
    [
        _INDEXED + "    h = 0.9 * h + 0.1 * net(x)\n",
        _INDEXED + "    h = normalize(0.9 * h + 0.1 * net(x))\n",
        _INDEXED + "    h = torch.lerp(h, net(x), 0.1)\n",
        _INDEXED + "    h = torch.cat([h, net(x)])\n",
        _INDEXED + "    h = torch.maximum(h, net(x))\n",
        _INDEXED + "    h = torch.stack([h, net(x)]).mean(0)\n",
        "for x in loader:\n    h = h + net(x)\n",
    ],
)
def test_what_is_added_to_goes_on(loop: str) -> None:
    assert not is_fed(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for t in range(9):\n    x = stream[t] * gains[random.randrange(3)]\n    h = cell(x, h)\n",
        "for x in stream:\n    g = random.choice(gains)\n    x = x * g\n    h = cell(x, h)\n",
        "for n in range(9):\n    x = next(it) * g[random.randrange(3)]\n    h = cell(x, h)\n",
        "order = torch.randperm(4)\nfor x in stream[:, order]:\n    h = cell(x, h)\n",
        "for n in range(9):\n    x = room.step(a)\n    h = cell(x, h)\n    a = act(h)\n",
        "for n in range(9):\n    x = react(a)\n    h = cell(x, h)\n    a = act(h)\n",
    ],
)
def test_a_stream_or_an_environment_goes_on(loop: str) -> None:
    assert not is_fed(loop)
