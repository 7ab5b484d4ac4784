"""Gradients of several backward calls before a step, of which only the last one's are left."""

from __future__ import annotations

import pytest

from app.present.retain_graph import advice
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from sandbox.inside.detectors.details import PARTLY
from tests.tracing import HEAD, Tracing

NET = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
ACCUMULATION = (
    NET
    + """\
for number in range(16):
    {before}
    loss = net(torch.randn(8, 3)).pow(2).mean() / 4
    loss.backward()
    {after}
    if number % 4 == 3:
        optimizer.step()
        {stepped}
"""
)
CONFLICTING = (
    NET
    + """\
for number in range(6):
    taken = []
    for sign in (1, -1):
        optimizer.zero_grad()
        net(sign * torch.randn(8, 3)).pow(2).mean().backward()
        taken.append([p.grad.clone() for p in net.parameters()])
    for p, a, b in zip(net.parameters(), *taken):
        p.grad = a + b
    optimizer.step()
"""
)
ADVERSARIES = (
    NET
    + """\
other = nn.Linear(3, 3)
others = torch.optim.SGD(other.parameters(), lr=0.1)

def update(loss, chosen):
    chosen.zero_grad()
    loss.backward()
    chosen.step()

for number in range(6):
    x = torch.randn(8, 3)
    update(net(other(x).detach()).mean(), optimizer)
    update(-net(other(x)).mean(), others)
"""
)
SEVERAL_EVALUATIONS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
x = torch.randn(8, 3)
for number in range(6):
    def closure():
        optimizer.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
CLEAR, CLIP = "optimizer.zero_grad()", "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"


def accumulation(before: str = "pass", after: str = "pass", stepped: str = "pass") -> str:
    return HEAD + ACCUMULATION.format(before=before, after=after, stepped=stepped)


@pytest.mark.parametrize(
    ("script", "lost"),
    [
        (accumulation(before=CLEAR), True),
        (accumulation(before="net.zero_grad(set_to_none=False)"), True),
        (accumulation(stepped=CLEAR), False),
        (accumulation(after=CLIP, stepped=CLEAR), False),
        (accumulation(before=f"if number == 6: {CLEAR}", stepped=CLEAR), False),
    ],
    ids=["each", "zeros", "accumulated", "clipped", "one step of several"],
)
def test_what_each_step_loses_is_counted(traced: Tracing, script: str, lost: bool) -> None:
    faults = [fault for fault in traced(script).trace.silent if fault.detail == PARTLY]
    assert [fault.figures for fault in faults] == ([(3, 3, 3)] if lost else [])
    assert all(fault.doubtful for fault in faults)


@pytest.mark.asyncio(loop_scope="session")
async def test_the_fix_lets_the_step_use_all_of_them(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=accumulation(before=CLEAR)), RUNNING)
    cause, patch = found.causes[0], found.patches[0]
    assert (found.verdict, cause.pattern) == ("confirmed", "cleared-before-step")
    assert "called 4 times before each step" in cause.explanation
    assert patch.verification.status == "passed"
    assert patch.effect is not None
    assert "holds the gradients of 4 backward calls" in patch.effect.text


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    "script",
    [CONFLICTING, ADVERSARIES, SEVERAL_EVALUATIONS],
    ids=["gathered", "another's", "closure"],
)
async def test_gradients_that_are_meant_to_be_cleared_are_no_fault(
    service: Service, script: str
) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + script), RUNNING)
    assert found.verdict == "healthy"


SHARED = (
    NET
    + """\
for number in range(6):
    shared, taken = net[:2](torch.randn(8, 3)), []
    losses = [(net[2](shared) - scale).square().mean() for scale in (1.0, 2.0)]
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        taken.append([p.grad.clone() for p in net.parameters()])
    for p, a, b in zip(net.parameters(), *taken):
        p.grad = a + b
    optimizer.step()
"""
)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_graph_is_kept_for_losses_whose_gradients_are_used_by_themselves(
    service: Service,
) -> None:
    found = await service.ask(DiagnosisRequest(script=HEAD + SHARED), RUNNING)
    assert found.causes[0].pattern == "shared-subgraph"
    assert "keep the graph until the last of them" in found.causes[0].explanation
    shown = advice(found)
    assert shown is not None
    assert shown.question.startswith("Why is")
