"""Fragments, several files, cells, engines and trainers, read for graphs that are reached again."""

from __future__ import annotations

import pytest

from analyzers.evidence import GraphReuse
from analyzers.reading import read
from analyzers.source.project import Project
from tests.unit.test_reading_reuse import HEAD, OFFSET, reuses

FRAGMENTS = {
    "a loop of unknown names": (
        "for batch in loader:\n    out, hidden = model(batch, hidden)\n"
        "    loss = criterion(out, y)\n    loss.backward()\n",
        ("hidden", 4),
    ),
    "a method that nothing calls": (
        "class Trainer:\n    def __init__(self, model):\n        self.model = model\n"
        "        self.state = None\n    def step(self, x, y):\n"
        "        out, self.state = self.model(x, self.state)\n"
        "        loss = self.criterion(out, y)\n        loss.backward()\n",
        ("self.state", 8),
    ),
    "a function that nothing calls": (
        "def train(model, loader):\n    hidden = model.init_hidden()\n    for x, y in loader:\n"
        "        out, hidden = model(x, hidden)\n        loss = loss_fn(out, y)\n"
        "        loss.backward()\n",
        ("hidden", 6),
    ),
}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragments_are_read_without_their_surroundings(name: str) -> None:
    body, (carrier, line) = FRAGMENTS[name]
    found = reuses(body, head="")
    assert [reuse.reached.at.line for reuse in found] == [line]
    names = {
        holder.path.partition("[")[0] for edge in found[0].stale_edges for holder in edge.holders
    }
    assert carrier in names


def test_several_files_are_one_script() -> None:
    project = Project(
        {
            "train.py": "from lib.cells import Cell\nimport torch\ncell = Cell()\n"
            "for _ in range(3):\n    cell.step(torch.randn(2, 4)).sum().backward()\n",
            "lib/cells.py": "import torch\nfrom torch import nn\n\n\nclass Cell:\n"
            "    def __init__(self):\n        self.fc = nn.Linear(4, 4)\n"
            "        self.h = torch.zeros(2, 4)\n\n    def step(self, x):\n"
            "        self.h = torch.tanh(self.fc(x) + self.h)\n        return self.h\n",
        }
    )
    (found,) = read(project).evidence
    assert isinstance(found, GraphReuse)
    assert (found.reached.at.file, found.reached.at.line) == ("train.py", 5)
    assert found.stale_edges[0].old.at is not None
    assert found.stale_edges[0].old.at.file == "lib/cells.py"
    assert found.stale_edges[0].holders[0].path == "self.h"


def test_a_cell_that_ran_again_walks_its_loss_twice() -> None:
    body = "loss = net(x).pow(2).sum()\nloss.backward()\n"
    project = Project({"train.py": HEAD + body})
    assert read(project).evidence == ()
    again = (OFFSET + 2, OFFSET + 2)
    (found,) = read(project, reruns=[again]).evidence
    assert isinstance(found, GraphReuse)
    assert found.same_root


def test_stacks_lead_from_the_script_to_the_walk() -> None:
    body = (
        "def walk(loss):\n    loss.backward()\nloss = net(x).exp().sum()\nwalk(loss)\nwalk(loss)\n"
    )
    (found,) = reuses(body)
    lines = [[place.line - OFFSET for place in v.stack] for v in (found.freed, found.reached)]
    assert lines == [[4, 2], [5, 2]]
    assert [place.function for place in found.freed.stack] == ["<module>", "walk"]


ENGINE = """\
class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad, self.done = data, parents, 0, False

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other))

    def __add__(self, other):
        return Value(self.data + other.data, (self, other))

    def backward(self, g=1):
        if self.done and self.parents:
            raise RuntimeError("this node was walked before")
        self.done = True
        for parent in self.parents:
            parent.backward(g)


w, x = Value(2.0), Value(3.0)
h = Value(0.0)
for t in range(4):
    h = CARRY * w + x
    h.backward()
"""


def test_hand_written_engines_are_followed_too() -> None:
    (found,) = read(Project({"train.py": ENGINE.replace("CARRY", "h")})).evidence
    assert isinstance(found, GraphReuse)
    assert (found.engine, found.engine_class) == ("custom", "Value")
    assert found.stale_edges[0].holders[0].path == "h"


def test_an_engine_that_starts_from_data_is_healthy() -> None:
    text = ENGINE.replace("CARRY", "Value(h.data)")
    assert read(Project({"train.py": text})).evidence == ()


def test_an_engine_that_never_refuses_is_left_alone() -> None:
    text = ENGINE.replace("CARRY", "h").replace("raise RuntimeError", "print")
    assert read(Project({"train.py": text})).evidence == ()


LIGHTNING = """\
import torch
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(4, 4)
        self.state = None

    def training_step(self, batch, batch_idx):
        x, y = batch
        out, state = self.rnn(x, self.state)
        self.state = KEEP
        return torch.nn.functional.mse_loss(out, y)
"""


def test_a_trainer_walks_what_the_training_step_returns() -> None:
    (found,) = read(Project({"m.py": LIGHTNING.replace("KEEP", "state")})).evidence
    assert isinstance(found, GraphReuse)
    assert found.stale_edges[0].holders[0].path == "self.state"
    assert read(Project({"m.py": LIGHTNING.replace("KEEP", "state.detach()")})).evidence == ()


STATE_WITH_A_METHOD = """\
from dataclasses import dataclass, fields, replace
@dataclass
class State:
    level: torch.Tensor
    def cut(self):
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{k: v.detach() for k, v in parts.items() if v is not None})
state = State(torch.zeros(2, 4))
for part in torch.randn(5, 2, 4):
    state = state.CUT
    state = State(torch.tanh(net(part + state.level)))
    head(state.level).pow(2).mean().backward()
    opt.step()
"""


@pytest.mark.parametrize(("cut", "found"), [("cut()", 0), ("__class__(state.level)", 1)])
def test_a_record_with_fields_of_unknown_names_replaced_may_be_cut(cut: str, found: int) -> None:
    assert len(reuses(STATE_WITH_A_METHOD.replace("CUT", cut))) == found


CACHED_ON_THE_OBJECT = """\
from functools import cached_property
class League(nn.Module):
    def __init__(self):
        super().__init__()
        self.skill = nn.Parameter(torch.ones(4))
    @cached_property
    def strength(self):
        return self.skill.exp() * self.skill
    def drop(self, *_):
        self.__dict__.GONE
league = League()
season = torch.optim.SGD(league.parameters(), lr=0.1)
season.register_step_post_hook(league.drop)
for match in torch.randn(5, 4):
    season.zero_grad()
    (league.strength * match).sum().pow(2).backward()
    season.step()
"""


@pytest.mark.parametrize(("gone", "found"), [("pop('strength', None)", 0), ("get('strength')", 1)])
def test_what_leaves_the_dictionary_of_an_object_is_recomputed(gone: str, found: int) -> None:
    assert len(reuses(CACHED_ON_THE_OBJECT.replace("GONE", gone))) == found


MANAGED = """\
class Update:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.total.backward()
@contextmanager
def update(losses):
    yield losses
    losses[0].backward()
net = nn.Linear(2, 1)
for x in torch.randn(4, 3, 2):
    with MANAGER as managed:
        loss = net(x).square().mean()
        GIVEN
        LAST
"""


@pytest.mark.parametrize("last", ["loss.backward()", "pass"])
@pytest.mark.parametrize(
    ("manager", "given"),
    [("Update()", "managed.total = loss"), ("update([])", "managed += [loss]")],
)
def test_the_end_of_a_context_manager_is_read_after_its_block(
    manager: str, given: str, last: str
) -> None:
    body = MANAGED.replace("MANAGER", manager).replace("GIVEN", given).replace("LAST", last)
    found = reuses(body, head=HEAD + "from contextlib import contextmanager\n")
    assert [reuse.same_root for reuse in found] == [True] * (last != "pass")
