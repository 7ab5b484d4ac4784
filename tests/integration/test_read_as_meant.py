"""Fixes of a gradient that is read while it is None, and of a target that learns."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

pytestmark = pytest.mark.asyncio(loop_scope="session")

START = """\
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for step in range(5):
"""
FORWARD = "    loss = ((net(x) - y) ** 2).mean()\n"
CLEAR, BACKWARD = "    optimizer.zero_grad()\n", "    loss.backward()\n"
READ, STEP = "    print(step, net.weight.grad)\n", "    optimizer.step()\n"
TARGET = "    loss = nn.functional.soft_margin_loss(net(x), LABELS)\n"


@pytest.mark.parametrize(
    ("loop", "fixed"),
    [
        ((CLEAR, FORWARD, READ, BACKWARD, STEP), (CLEAR, FORWARD, BACKWARD, READ, STEP)),
        ((FORWARD, BACKWARD, STEP, CLEAR, READ), (FORWARD, BACKWARD, STEP, READ, CLEAR)),
    ],
)
async def test_a_gradient_is_read_while_it_is_there(
    service: Service, loop: tuple[str, ...], fixed: tuple[str, ...]
) -> None:
    script = HEAD + START + "".join(loop)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["nonleaf-grad"]
    first = found.patches[0]
    assert (first.verification.status, first.gradients) == ("passed", "same")
    assert first.script == HEAD + START + "".join(fixed)


async def test_a_target_that_learns_is_made_constant(service: Service) -> None:
    script = HEAD + START + CLEAR + TARGET + BACKWARD + STEP
    script = script.replace("LABELS", "net(x + 1).sign()")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["undetached-target"]
    first = found.patches[0]
    assert first.verification.status == "passed"
    assert first.script == script.replace(".sign()", ".sign().detach()")
