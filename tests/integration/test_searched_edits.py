"""Errors that no pattern's fix repairs: edits are searched, and offered only where they change
nothing that the script trains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.repair.repairing import RepairResult, repair_faults
from app.request.case import read_case
from app.run.explain import explain
from app.run.reproduce import observe
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.plain_runs import Given, PlainRuns

pytestmark = pytest.mark.asyncio(loop_scope="session")

# A penalty that is computed once: as the default of an argument that a lambda keeps.
PENALTY = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)

def ridge(module):
    return sum(p.pow(2).sum() for p in module.parameters())

def objective(module, extra=ridge(net)):
    return lambda x, y: (module(x) - y).pow(2).mean() + 0.01 * extra

goal = objective(net)
for _ in range(5):
    optimizer.zero_grad()
    goal(torch.randn(8, 4), torch.randn(8, 1)).backward()
    optimizer.step()
"""

# A game of two networks: the score goes through two functions, and each has its own step.
GAME = """\
import torch
from torch import nn
torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
judge = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
steps = torch.optim.SGD(maker.parameters(), lr=0.05), torch.optim.SGD(judge.parameters(), lr=0.05)
loss_of = nn.BCEWithLogitsLoss()

def train_judge(real, made):
    steps[1].zero_grad()
    score = judge(made)
    loss = loss_of(judge(real), torch.ones(16, 1)) + loss_of(score, torch.zeros(16, 1))
    loss.backward()
    steps[1].step()
    return score

def train_maker(score):
    steps[0].zero_grad()
    loss_of(score, torch.ones(16, 1)).backward()
    steps[0].step()

for seed in torch.randn(6, 16, 2):
    made = maker(seed)
    score = train_judge(torch.randn(16, 2), made)
    train_maker(score)
"""

# Each loss goes backward twice, and counts twice: only the author knows whether it should.
TWICE = """\
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    loss.backward()
    optimizer.step()
"""


async def test_the_edits_of_a_pattern_without_fixes_are_its_fixes(
    service: Service, plain: PlainRuns
) -> None:
    found = await service.ask(DiagnosisRequest(script=PENALTY, filename="train.py"), RUNNING)
    first = found.patches[0]
    assert first.strategy == "compute-where-read"
    assert (first.verification.status, first.gradients) == ("passed", "same")
    meant = PENALTY.replace("0.01 * extra", "0.01 * ridge(module)")
    assert not plain.outcome(
        Given({"train.py": first.script}), [Given({"train.py": meant})]
    ).objections
    assert found.causes[0].pattern == "derived-outside-loop"


async def test_an_edit_is_made_on_top_of_one_that_moved_the_failure(
    service: Service, plain: PlainRuns
) -> None:
    found = await service.ask(DiagnosisRequest(script=GAME, filename="train.py"), RUNNING)
    first = found.patches[0]
    assert (first.verification.status, first.gradients) == ("passed", "same")
    assert "+" in first.strategy
    again = "    train_maker(judge(maker(seed)))"
    meant = GAME.replace("    train_maker(score)", again)
    assert not plain.outcome(
        Given({"train.py": first.script}), [Given({"train.py": meant})]
    ).objections


async def test_what_changes_the_training_is_not_offered(service: Service) -> None:
    found = await searched(service, TWICE)
    assert found.causes[0].pattern == "duplicate-backward"
    assert found.trials == []


async def test_what_keeps_the_training_is_offered(service: Service) -> None:
    found = await searched(service, PENALTY)
    assert [trial.status for trial in found.trials] == ["passed"] * len(found.trials) != []


async def searched(service: Service, script: str) -> RepairResult:
    """What a search finds where the pattern proposes nothing."""
    case = await read_case(DiagnosisRequest(script=script, filename="train.py"), service.reader)

    async def stage(stage: str, done: int, total: int, message: str) -> None: ...

    async with service.sandbox.session() as session:
        seen = await observe(case, session)
        causes = await explain(case, seen, service.reader)
        bare = [replace(cause, candidates=[]) for cause in causes]
        return await repair_faults(case, seen, bare, session, service.reader, stage)
