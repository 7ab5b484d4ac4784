"""Arguments, files and errors that were not sent: synthesized or found, and listed as such."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEASURED = """\
import sys
import numpy as np
import torch
from heads import Head

stored = np.load(sys.argv[1])
rows, person = torch.from_numpy(stored["rows"]), torch.from_numpy(stored["person"])
head = Head()
shift = torch.tanh(head.layer.weight.mean())
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for start in range(0, 48, 16):
    part = slice(start, start + 16)
    loss = torch.nn.functional.cross_entropy(head(rows[part]) + shift, person[part])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HEAD = """\
from torch import nn

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(24, 10)

    def forward(self, rows):
        return self.layer(rows)
"""
LOADED = """\
import torch
waves = torch.load("recordings/waves.pt")
filters = torch.nn.Conv1d(3, 8, 5)
optimizer = torch.optim.Adam(filters.parameters())
smooth = torch.zeros(8)
for wave in waves.split(4):
    smooth = 0.9 * smooth + filters(wave).mean((0, 2))
    optimizer.zero_grad()
    smooth.square().sum().backward()
    optimizer.step()
"""
A_MODEL = """\
import torch
net = torch.load("runs/best.pt", map_location="cpu")
net.eval()
image = torch.rand(3, 16, 16, requires_grad=True).unsqueeze(0)
net(image).max().backward()
print(image.grad.sign())
"""
MOVED = """\
scale = torch.rand(5, 5, requires_grad=True).cuda()
layer = nn.Linear(5, 5).cuda()
layer(scale).sum().backward()
print(scale.grad)
"""

UNCLEARED = """\
descent = torch.optim.SGD(ranker.parameters(), lr=0.05)
for query, found in log:
    error = ((ranker(query) - found) ** 2).mean()
    error.backward()
    descent.step()
"""
GROWING = """\
sum_of_errors = 0
for turn, (query, found) in enumerate(log):
    error = ((ranker(query) - found) ** 2).mean()
    descent.zero_grad()
    error.backward()
    descent.step()
    sum_of_errors += error
    print(turn, sum_of_errors / (turn + 1))
"""
FIGURES_BY_NAME = """\
for query, found in log:
    error = F.mse_loss(network(query), found)
    descent.zero_grad()
    error.backward()
    descent.step()
    figures["error"].append(error.item())
    decibels = -10 * torch.log10(error)
    figures["decibels"].append(decibels)
    print(sum(figures["decibels"][-5:]) / 5)
"""
CLEARED = UNCLEARED.replace("    error.backward", "    descent.zero_grad()\n    error.backward")


SERVED = """\
import json
import os
import sys
import torch
from served import Policy, rows_of

if len(sys.argv) < 4:
    sys.exit("usage: serve.py SETTINGS FIRST LAST")
settings = json.load(open(sys.argv[1]))
first, last = sys.argv[2:4]
policy = Policy(settings["width"])
optimizer = torch.optim.SGD(policy.parameters(), lr=settings["rate"])
memory = torch.zeros(settings["width"])
for row in rows_of(os.environ["SERVED_ROWS"]):
    memory = torch.tanh(policy(row) + memory)
    optimizer.zero_grad()
    memory.sum().backward()
    optimizer.step()
"""
SERVED_PART = """\
import gymnasium
import torch

class Policy(torch.nn.Module):
    def __init__(self, width, seen=7):
        super().__init__()
        self.take = torch.nn.Linear(seen, width)

    def forward(self, row):
        return self.take(row)

def rows_of(name):
    world = gymnasium.make("Ferry-v3", route=name)
    row, _ = world.reset(seed=0)
    for _ in range(20):
        yield torch.as_tensor(row)
        row, reward, ended, cut, _ = world.step(world.action_space.sample())
"""


async def asked(service: Service, script: str, **more: object) -> Findings:
    request = DiagnosisRequest.model_validate({"script": script, **more})
    return await service.ask(request, RUNNING)


async def test_an_argument_and_the_arrays_of_its_file_are_synthesized_to_fit_the_project(
    service: Service,
) -> None:
    found = await asked(service, MEASURED, files=[{"path": "heads.py", "content": HEAD}])
    assert found.causes[0].pattern == "derived-outside-loop"
    assert found.run is not None
    assert found.run.status == "reproduced"
    assert {(a.kind, a.name) for a in found.world} >= {("argument", "sys.argv[1]")}


async def test_what_an_unknown_environment_shows_gets_the_size_that_the_project_takes(
    service: Service,
) -> None:
    settings = {"path": "small.json", "content": '{"width": 5, "rate": 0.1}'}
    files = [{"path": "served.py", "content": SERVED_PART}, settings]
    traceback = (
        'Traceback (most recent call last):\n  File "serve.py", line 18, in <module>\n'
        "    memory.sum().backward()\nRuntimeError: Trying to backward through the graph a second"
        " time (or directly access saved tensors after they have already been freed)."
    )
    found = await asked(service, SERVED, files=files, traceback=traceback)
    assert found.run is not None
    assert found.run.status == "reproduced"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.patches[0].verification.status == "passed"
    reported = {(a.kind, a.name): a.text for a in found.world}
    assert "small.json" in reported["argument", "sys.argv[1]"]
    assert ("argument", "os.environ['SERVED_ROWS']") in reported
    assert {("argument", "sys.argv[2]"), ("argument", "sys.argv[3]")} <= reported.keys()


async def test_a_missing_file_is_a_tensor_where_one_is_wanted(service: Service) -> None:
    found = await asked(service, LOADED)
    assert found.causes[0].pattern == "recurrent-state"
    assert found.run is not None
    assert found.run.status == "reproduced"


async def test_a_missing_file_is_a_model_where_one_is_wanted(service: Service) -> None:
    found = await asked(service, A_MODEL)
    assert (found.causes[0].pattern, found.causes[0].location.line) == ("nonleaf-grad", 4)
    assert found.patches[0].verification.status == "passed"


async def test_a_clean_run_on_what_was_synthesized_is_reported_as_one(service: Service) -> None:
    found = await asked(service, LOADED.replace("0.9 * smooth ", "0.9 * smooth.detach() "))
    assert (found.verdict, found.causes) == ("inconclusive", [])
    assert found.run is not None
    assert f"made {found.run.backward_calls} backward calls without an error" in found.summary


@pytest.mark.parametrize(
    ("script", "pattern", "line"),
    [
        (UNCLEARED, "missing-zero-grad", 5),
        (GROWING, "growing-history", 7),
        (FIGURES_BY_NAME, "growing-history", 8),
        (MOVED, "nonleaf-grad", 1),
    ],
)
async def test_a_part_that_fails_in_silence_by_itself_is_reported(
    service: Service, script: str, pattern: str, line: int
) -> None:
    found = await asked(service, script)
    assert [(c.pattern, c.location.line) for c in found.causes[:1]] == [(pattern, line)]
    assert found.verdict == "likely"


@pytest.mark.parametrize(
    "script",
    [
        CLEARED,
        FIGURES_BY_NAME.replace("(error)", "(error.detach())"),
        MOVED.replace("torch.rand(5, 5, requires_grad=True)", "page"),  # a value of the harness
    ],
)
async def test_a_part_that_does_what_it_should_is_not_blamed(service: Service, script: str) -> None:
    assert (await asked(service, script)).causes == []
