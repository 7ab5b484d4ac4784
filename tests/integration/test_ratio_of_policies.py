"""A ratio of log-probabilities that are both computed from the present policy trains nothing."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service

TRAINING = """\
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for update in range(6):
    states = torch.randn(32, 4)
    dist = Categorical(logits=actor(states))
    actions, others = dist.sample(), torch.randint(0, 3, (32,))
    returns = states.sum(1) + (actions == 1).float()
    advantages = (returns - critic(states).squeeze(1)).detach()
    before = {before}
    ratio = torch.exp(Categorical(logits=actor(states)).log_prob(actions) - before)
    surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
    fit = (critic(states).squeeze(1) - returns).square().mean()
    loss = fit - surrogate.mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_the_older_probability_is_detached(service: Service) -> None:
    script = TRAINING.format(before="dist.log_prob(actions)")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["undetached-target"]
    assert "their gradients cancel" in found.causes[0].explanation
    first = found.patches[0]
    assert "before = dist.log_prob(actions).detach()" in first.script
    assert first.verification.status == "passed"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("before", ["dist.log_prob(actions).detach()", "dist.log_prob(others)"])
async def test_a_constant_and_another_action_are_not_blamed(service: Service, before: str) -> None:
    script = TRAINING.format(before=before)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert (found.verdict, found.causes, found.patches) == ("healthy", [], [])
