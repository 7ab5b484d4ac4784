"""Gradients that are handed on and never cleared are a fault; those that are meant to add up are
none."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
rows, batches = [], torch.randn(8, 4, 3)
"""


RETURNED = """\
def gradients(model, x):
    model(x).square().mean().backward()
    return [p.grad.clone() for p in model.parameters()]
for x in batches:
    rows.append(gradients(net, x))
"""
SUMMED = """\
fisher = [torch.zeros_like(p) for p in net.parameters()]
for x in batches:
    net(x).square().mean().backward()
    for total, p in zip(fisher, net.parameters()):
        total += p.grad.square()
"""
ROWS = """\
w = torch.ones(3, requires_grad=True)
for x in batches[:, 0]:
    (w * x).tanh().sum().backward()
    rows.append(w.grad.clone())
"""


@pytest.mark.parametrize(
    ("body", "cleared"),
    [(RETURNED, "model.zero_grad()"), (SUMMED, "net.zero_grad()"), (ROWS, "w.grad = None")],
)
async def test_what_is_handed_on_behind_each_backward_is_cleared(
    service: Service, body: str, cleared: str
) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + body), RUNNING)
    assert found.verdict == "confirmed"
    assert [cause.pattern for cause in found.causes] == ["missing-zero-grad"]
    assert f"+    {cleared}\n" in found.patches[0].diff
    assert found.patches[0].verification.status == "passed"


@pytest.mark.parametrize(
    "body",
    [
        # the sum of all, used once
        "for x in batches:\n    (net(x).mean() / 8).backward()\nrows.append(net.weight.grad)\n",
        # looked at while it grows
        "for x in batches:\n    net(x).mean().backward()\n"
        "    rows.append(net.weight.grad.norm().item())\n",
        # every fourth of the running sum
        "for n, x in enumerate(batches):\n    net(x).mean().backward()\n"
        "    if n % 4 == 3:\n        rows.append(net.weight.grad.clone())\n",
        # another leaf's gradient, that of an input which is new each time
        "for x in batches:\n    x = x.clone().requires_grad_()\n"
        "    net(x).square().mean().backward()\n    rows.append(x.grad)\n",
        RETURNED.replace("    model(x)", "    model.zero_grad()\n    model(x)"),
    ],
)
async def test_what_is_meant_to_add_up_is_healthy(service: Service, body: str) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + body), RUNNING)
    assert found.verdict == "healthy"
    assert not found.causes
