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


ALONE = """\
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for update in range(6):
    states = torch.randn(32, 4)
    actions = Categorical(logits=policy(states)).sample()
    advantages = (actions == 1).float() - 0.3
    old = Categorical(logits=policy(states)).log_prob(actions)
    new = Categorical(logits=policy({seen})).log_prob(actions)
    ratio = torch.exp(new - old)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_ratio_alone_is_the_reason_of_zeros(service: Service) -> None:
    script = ALONE.format(seen="states", loss="-(ratio * advantages).mean()")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.causes[0].pattern == "undetached-target"
    assert "log_prob(actions).detach()" in found.patches[0].script


@pytest.mark.asyncio(loop_scope="session")
async def test_the_ratio_of_two_views_is_not_blamed(service: Service) -> None:
    loss = "(ratio - 1).square().mean() - new.mean()"
    script = ALONE.format(seen="states + 0.1 * torch.randn(32, 4)", loss=loss)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert (found.verdict, found.causes, found.patches) == ("healthy", [], [])


LOGGED = """\
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(6):
    points = torch.randn(16, 4, requires_grad=True)
    scores = critic(points)
    slopes, = torch.autograd.grad(scores.sum(), points, create_graph=True)
    print(slopes.norm(dim=1).mean().item())
    loss = (scores.detach() - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_gradient_that_is_only_printed_fails_no_fix(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=LOGGED), RUNNING)
    assert "loss = (scores - 1)" in found.patches[0].script
    assert found.patches[0].verification.status == "passed"
