"""The three families in other people's styles: helpers, classes, several files."""

from __future__ import annotations

import pytest

from tests.fixing import first_that_runs, recognise
from tests.plain_runs import PlainRuns
from tests.tracing import Tracing

TRAINER = """\
import torch
from torch import nn


class Pair:
    def __init__(self):
        self.maker = nn.Linear(3, 3)
        self.judge = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
        self.first = torch.optim.SGD(self.judge.parameters(), lr=0.1)
        self.second = torch.optim.SGD(self.maker.parameters(), lr=0.1)

    def improve(self, objective):
        self.first.zero_grad()
        objective.backward()
        self.first.step()

    def round(self, data):
        made = self.maker(data)
        wanted = -self.judge(made).mean()
        self.improve(self.judge(made.detach()).pow(2).mean() - self.judge(data).mean())
        self.second.zero_grad()
        wanted.backward()
        self.second.step()


pair = Pair()
for _ in range(3):
    pair.round(torch.randn(8, 3))
"""

LAYERS = """\
import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        out = torch.tanh(self.linear(x))
        out *= x
        return out
"""

TWO_FILES = """\
import torch
from layers import Gate

gate = Gate()
optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for _ in range(3):
    loss = gate(torch.randn(5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

ROLLOUT = """\
import torch

cell, head = torch.nn.GRUCell(2, 5), torch.nn.Linear(5, 2)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


def forecast(start, steps):
    path = start.new_zeros(start.size(0), steps, 2)
    path[:, 0] = start
    memory = start.new_zeros(start.size(0), 5)
    for i in range(steps - 1):
        memory = cell(path[:, i], memory)
        path[:, i + 1] = head(memory)
    return path


for _ in range(3):
    loss = forecast(torch.randn(4, 2), 6).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

EVALUATED = """\
import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def score(x):
    return net(x).pow(2).mean()


for _ in range(3):
    objective = score(torch.randn(8, 3))
    optimizer.zero_grad()
    objective.backward()
    optimizer.step()
"""

CASES = {
    "step in a method": (TRAINER, {}, "step-between-backwards", "train.py", 15),
    "activation in another file": (
        TWO_FILES,
        {"layers": LAYERS},
        "inplace-activation",
        "layers.py",
        11,
    ),
    "buffer filled along a dimension": (ROLLOUT, {}, "inplace-state", "train.py", 13),
    "decorated helper": (EVALUATED, {}, "detached-loss", "train.py", 7),
}


@pytest.mark.parametrize("name", CASES)
def test_found_where_it_is_and_fixed_so_that_everything_learns(
    name: str, traced: Tracing, plain: PlainRuns
) -> None:
    script, files, pattern, file, line = CASES[name]
    found = recognise(traced, script, **files)
    assert found is not None
    assert found.match.pattern == pattern
    assert (found.match.location.file, found.match.location.line) == (file, line)
    _, outcome, _ = first_that_runs(found, plain)
    assert outcome.steps
    assert set(outcome.steps) == {3}
    assert outcome.idle == 0


def test_no_patch_lets_go_of_the_rows_that_a_loop_changes(traced: Tracing) -> None:
    script = """\
        import torch
        layer = torch.nn.Linear(3, 3)
        table = layer(torch.randn(4, 3))
        for entry in table:
            entry /= entry.norm()
        table.sum().backward()
        """
    found = recognise(traced, script)
    assert found is not None
    (only,) = found.proposals
    assert "table = torch.stack(new_entrys)" in found.files(only)["train.py"]


def test_a_mistake_that_a_step_clears_is_not_blamed(traced: Tracing) -> None:
    script = """\
        import torch
        made, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        a = torch.optim.SGD(made.parameters(), lr=0.1)
        b = torch.optim.SGD(judge.parameters(), lr=0.1)
        for _ in range(8):
            fake = made(torch.randn(4, 2))
            b.zero_grad()
            judge(fake.detach()).mean().backward()
            b.step()
            a.zero_grad()
            judge(fake).pow(2).mean().backward()
            a.step()
        """
    assert recognise(traced, script) is None
