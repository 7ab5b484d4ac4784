"""What encodings were made of is kept in their place, where that means the same."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEPT = """\
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift, self.head, self.seen = nn.Parameter(torch.zeros(3)), nn.Linear(3, 1), []

    def encode(self, x):
        return (x + self.shift).tanh()

    def forward(self, x):
        z = self.encode(x)
        BETWEEN
        self.seen.append(z)
        return self.head(torch.stack(self.seen).mean(0))

agent = Agent()
optimizer = torch.optim.SGD(agent.parameters(), lr=0.1)
for step in range(4):
    loss = agent(torch.randn(5, 3)).square().mean()
    AFTER
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("between", "after", "offered"),
    [
        ("pass", "pass", True),
        ("x = x * 0", "pass", False),
        ("x.zero_()", "pass", False),
        ("pass", "print(agent.seen[-1].mean())", False),
        ("pass", "hidden = agent.seen; print(hidden[-1].mean())", False),
    ],
    ids=["as it is", "another input", "written into", "read elsewhere", "by another name"],
)
async def test_inputs_are_kept_where_encodings_were(
    service: Service, between: str, after: str, offered: bool
) -> None:
    script = KEPT.replace("BETWEEN", between).replace("AFTER", after)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.causes[0].pattern == "stored-graph"
    assert ("store-inputs" in {patch.strategy for patch in found.patches}) is offered
