"""How values are kept from pass to pass, and by whom: read from source alone."""

from __future__ import annotations

import ast

import pytest

from analyzers.evidence import GraphReuse
from analyzers.explain.reuse.escapes import handings
from analyzers.explain.reuse.features import story_of
from analyzers.explain.reuse.kept_values import sums
from analyzers.explain.reuse.recordtypes import is_named_tuple_field, tensor_fields
from analyzers.reading import read
from analyzers.repair.sites.scopes import wants_gradient
from analyzers.source.project import Project

BANK = """
class Bank:
    def __init__(self):
        self.rows, self.seen = [], 0

    def push(self, count, keys):
        self.seen += count
        for key in keys:
            self.rows.append({put})

bank = Bank()
for batch in batches:
    key = encoder(batch)
    bank.push(len(batch), key)
"""

RECORDS = """
from collections import namedtuple
from typing import NamedTuple

class Carry(NamedTuple):
    core: torch.Tensor
    trace: Tensor
    steps: int

class State:
    hidden: torch.Tensor

Pair = namedtuple("Pair", "left, right")
"""


@pytest.mark.parametrize(
    ("value", "summed"),
    [
        ("total + loss", True),
        ("(total + loss) / 4", True),
        ("sum(total)", True),
        ("torch.stack(total[-3:]).mean()", True),
        ("sum(part for part in total)", True),
        ("weight(total) * loss", False),
        ("total * scale(x)", False),
        ("model(total)", False),
    ],
)
def test_a_sum_takes_its_parts_in_as_they_are(value: str, summed: bool) -> None:
    assert sums(ast.parse(value, mode="eval").body, "total") is summed


def test_the_store_behind_a_method_is_found_through_its_loop() -> None:
    project = Project({"train.py": BANK.replace("{put}", "key")})
    module = project.modules["train.py"]
    found = list(handings(project, module, module.tree, "key"))
    assert [(h.name, h.place.line) for h in found] == [("bank.rows", 9)]


def test_what_is_stored_detached_is_not_kept() -> None:
    text = BANK.replace(
        "            self.rows", "            key = key.detach()\n            self.rows"
    )
    project = Project({"train.py": text.replace("{put}", "key")})
    module = project.modules["train.py"]
    assert not list(handings(project, module, module.tree, "key"))


def test_records_tell_their_fields() -> None:
    project = Project({"train.py": RECORDS})
    assert tensor_fields(project, "trace") == ["core", "trace"]
    assert is_named_tuple_field(project, "core")
    assert is_named_tuple_field(project, "right")
    assert not is_named_tuple_field(project, "hidden")


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("torch.autograd.grad(loss, state)", True),
        ("(g,) = grad(loss, [other, state])", True),
        ("print(state.grad)", True),
        ("later = state\nentry, k = later, 1\ngrad(loss, entry)", True),
        ("self.entry = state\ngrad(loss, self.entry)", True),
        ("later = state * 2\ngrad(loss, later)", False),
        ("state = later\ngrad(loss, later)", False),
        ("grad(state, other)", False),
    ],
)
def test_a_gradient_is_asked_for_by_a_name_or_one_that_gets_its_value(
    lines: str, wanted: bool
) -> None:
    assert wants_gradient(ast.parse(lines), "state") is wanted


KEPT = """
import torch
import torch.nn as nn
net = nn.Linear(4, 4)
x, i = torch.randn(2, 4), torch.arange(2)

def advance(agent):
    mixed = agent.h + net(x)
    return torch.tanh(mixed)

class Agent:
    def __init__(self):
        self.h = torch.zeros(2, 4)

    def move(self):
        {body}

agent = Agent()
for _ in range(3):
    agent.move()
    agent.h.sum().backward()
"""


@pytest.mark.parametrize(
    ("body", "fed", "averaged"),
    [
        ("self.h = torch.tanh(self.h + net(x))", True, False),
        ("self.h = advance(self)", True, False),
        ("state = torch.tanh(self.h + net(x)); self.h = state", True, False),
        ("both = torch.cat([self.h, x], 1); self.h = net(both[:, 2:6])", True, False),
        ("state = net(torch.cat([self.h, x], 1)[:, 2:6]); self.h = state", True, False),
        ("mean = 0.9 * self.h + 0.1 * net(x); self.h = mean", False, True),
        (
            "old = self.h[i]; rows = 0.9 * old + 0.1 * net(x); "
            "self.h = self.h.index_copy(0, i, rows)",
            False,
            False,
        ),
    ],
)
def test_what_a_value_is_made_of_is_seen_through_names_and_calls(
    body: str, fed: bool, averaged: bool
) -> None:
    project = Project({"train.py": KEPT.replace("{body}", body)})
    (reuse,) = [found for found in read(project).evidence if isinstance(found, GraphReuse)]
    story = story_of(reuse, project)
    assert story is not None
    assert (story.self_fed, story.averaged) == (fed, averaged)
