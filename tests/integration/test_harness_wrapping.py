"""Parts of programs that wrap what they train: what an accelerator returns, an optimizer of two
stages, and a package that has dropped a name."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
PREPARED = """\
net, opt, pages, plan = helper.prepare(net, opt, pages, plan)
switch_on(helper)
for turn in range(turns):
    for page in pages:
        with helper.accumulate(net):
            cost = net(page)
            helper.backward(cost)
            opt.step()
            opt.zero_grad()
            plan.step()
    helper.backward(cost)
"""
TWO_STAGES = """\
cost = 0
for part in range(parts):
    one, seen = cost_of(net(page), label, part)
    cost += one
opt.zero_grad()
cost.backward()
opt.first_step(zero_grad=True)
guess = net(page)
for part in range(parts):
    one, seen = cost_of(guess, label, part)
    cost += one
cost.backward()
opt.second_step(zero_grad=True)
"""
DROPPED = """\
import torch
from peft import LoraConfig, prepare_model_for_int8_training

net = torch.nn.Linear(4, 1)
prepare_model_for_int8_training(net)
cost = net(torch.randn(3, 4)).square().mean()
cost.backward()
cost.backward()
"""


async def asked(service: Service, script: str, error: str = AGAIN) -> Findings:
    return await service.ask(DiagnosisRequest(script=script, traceback=error), RUNNING)


async def test_what_is_wrapped_is_what_was_given(service: Service) -> None:
    found = await asked(service, PREPARED)
    (cause, *_) = found.causes
    assert found.basis == "completed"
    assert (cause.pattern, cause.location.line) == ("duplicate-backward", 11)
    assert not any("`helper` " in one.text and "tensor" in one.text for one in found.world)


async def test_a_total_over_two_stages_begins_again(service: Service) -> None:
    found = await asked(service, TWO_STAGES)
    (first, *_) = found.patches
    assert found.causes[0].pattern == "accumulated-loss"
    assert first.verification.status == "passed"
    assert "+cost = 0\n" in first.diff
    covered = next(c for c in first.verification.checks if c.name == "covered")
    assert (covered.status, covered.detail) == ("passed", "2 losses get a backward")


async def test_a_name_that_a_package_has_dropped_is_synthesized(service: Service) -> None:
    found = await asked(service, DROPPED)
    assert found.basis == "completed"
    assert [(c.pattern, c.location.line) for c in found.causes] == [("duplicate-backward", 8)]
    named = {one.name for one in found.world}
    assert "prepare_model_for_int8_training" in named
    assert "LoraConfig" not in named
