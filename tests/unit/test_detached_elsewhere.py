"""A loss that reads a value detached in one place and with its graph in another."""

from __future__ import annotations

import pytest

from analyzers.reading import read
from analyzers.request.causes import RankedCause, classify
from analyzers.source.project import Project

FUNCTION = """\
import torch

net, judge = torch.nn.Linear(4, 4), torch.nn.Linear(8, 1)
opt = torch.optim.SGD(judge.parameters(), lr=0.1)
sketch = torch.randn(2, 4)
drawn = net(sketch)


def judged():
    pair = torch.cat((sketch, drawn), 1)
    {first}
    rough = (judge(pair) - 1).pow(2).mean()
    loss = worth + rough
    loss.backward()


for _ in range(3):
    judged()
    opt.step()
"""
STATE = """\
import torch

cell, probe, head = torch.nn.GRUCell(4, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
h = torch.zeros(2, 4)
for _ in range(3):
    h = cell(torch.randn(2, 4), h)
    loss = probe(h.detach()).mean() + head(h).mean()
    loss.backward()
"""


def first_cause(code: str) -> RankedCause:
    project = Project({"train.py": code})
    return classify(project, read(project).evidence)[0]


def titles(cause: RankedCause) -> list[str]:
    return [candidate.title for candidate in cause.candidates]


def test_the_other_argument_is_detached_as_well() -> None:
    cause = first_cause(FUNCTION.format(first="worth = judge(pair.detach()).mean()"))
    assert cause.pattern == "undetached-target"
    assert "reads it detached elsewhere" in cause.explanation
    assert titles(cause)[0] == "Detach `pair` where line 12 reads it"
    assert not any("keep the graph" in title for title in titles(cause))


@pytest.mark.parametrize(
    "first",
    ["worth = judge(pair).mean()", "print(pair.detach())\n    worth = judge(pair).mean()"],
    ids=["read with its graph only", "detached for a print"],
)
def test_what_no_part_of_the_loss_detaches_is_no_constant(first: str) -> None:
    cause = first_cause(FUNCTION.format(first=first))
    assert "reads it detached elsewhere" not in cause.explanation


def test_a_state_that_a_probe_reads_detached_stays_a_state() -> None:
    assert first_cause(STATE).pattern == "recurrent-state"
