"""A `zero_grad` under a condition: only the run shows whether it ever clears."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

LOOP = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
settings = {{"clear": False}}
for number in range(24):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    if {condition}:
        optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("condition", "causes"),
    [('settings["clear"]', ["missing-zero-grad"]), ("number % 8 == 0", [])],
    ids=["never", "sometimes"],
)
async def test_a_clear_counts_if_it_ever_ran(
    service: Service, condition: str, causes: list[str]
) -> None:
    script = HEAD + LOOP.format(condition=condition)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == causes
    assert found.verdict == ("confirmed" if causes else "healthy")
