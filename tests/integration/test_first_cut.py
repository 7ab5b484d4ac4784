"""Of several cuts between the parameters and the loss, the first on the way is the cause."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

POLICY = """\
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(4):
    kept, rewards = [], []
    for t in range(5):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        kept.append(dist.log_prob(action).item())  # the first
        rewards.append(float(action))
    returns = torch.tensor(rewards).cumsum(0)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LEAF = "loss = -(torch.tensor(kept, requires_grad=True) * returns).sum()"
BARE = "loss = -(torch.tensor(kept) * returns).sum()"
NEGATED = "loss = torch.tensor([(-k * r).item() for k, r in zip(kept, returns)]).sum()"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("loss", [LEAF, BARE, NEGATED], ids=["a leaf", "no leaf", "negated"])
async def test_the_first_cut_is_named(service: Service, loss: str) -> None:
    script = HEAD + POLICY.format(loss=loss)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.causes[0].location.code.endswith("# the first")
