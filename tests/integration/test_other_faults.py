"""Patches with which another fault shows: one that they introduce, or one of the script's own."""

from __future__ import annotations

import pytest

from app.schemas import Check, DiagnosisRequest, Patch
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

pytestmark = pytest.mark.asyncio(loop_scope="session")

VALUES = """\
import copy
from torch.nn import functional as F
value = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
later = copy.deepcopy(value)
optimizer = torch.optim.SGD([*value.parameters(), *later.parameters()], lr=0.1)
gamma = 0.9
for step in range(8):
    now, next_ = torch.randn(6, 4), torch.randn(6, 4)
    reward = torch.randn(6, 1)
    target = reward + gamma * later(next_).detach()
    loss = F.mse_loss(value(now), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
UNRECORDED = """\
    with torch.no_grad():
        guess = value(now)
        target = reward + gamma * value(next_)
    loss = F.mse_loss(guess, target)
"""
GATHERED = """\
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept, loss = [], 0
for step in range(12):
    loss = loss + net(torch.randn(6, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append(net(torch.randn(6, 4)).square().mean())
    kept[-1].backward()
"""


def other(patch: Patch) -> list[Check]:
    return [check for check in patch.verification.checks if check.name == "no_other_fault"]


async def test_a_patch_that_makes_a_loss_train_its_target_fails(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + VALUES), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["starved-parameter"]
    (patch,) = [patch for patch in found.patches if "later(next_)\n" in patch.script]
    (check,) = other(patch)
    assert check.status == "failed"
    assert check.detail.startswith("A value meant as a constant keeps its graph")
    assert patch.effect is not None
    assert patch.effect.intended == ""
    assert patch.level == "display_only"


async def test_what_is_not_recorded_on_purpose_stays_so(service: Service) -> None:
    start, end = VALUES.index("    target ="), VALUES.index("    optimizer.zero")
    script = HEAD + VALUES[:start] + UNRECORDED + VALUES[end:]
    script = script.replace(", *later.parameters()", "")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    first = found.patches[0]
    assert first.verification.status == "passed"
    assert "    guess = value(now)\n    with torch.no_grad():\n        target" in first.script
    assert other(first) == []
    (whole,) = [one for one in found.patches if "no_grad" not in one.script]
    assert [check.status for check in other(whole)] == ["differs"]


async def test_a_fault_that_an_error_hid_is_said_next_to_its_fix(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + GATHERED), RUNNING)
    first = found.patches[0]
    assert [check.status for check in other(first)] == ["differs"]
    assert first.effect is not None
    assert "Another fault shows with it" in first.effect.text
