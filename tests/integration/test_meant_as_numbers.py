"""Numbers and samples that a loss rightly takes without a gradient are no fault."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service

TRAINING = """\
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
net, other = nn.Linear(4, 3), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.01)
{before}
for step in range(12):
    x = torch.randn(16, 4)
    out = net(x)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SPREAD = "q = Normal(out, 0.3); near = kl_divergence(q, Normal(0.0, 1.0)).mean()"
LOSSES = {
    "a shift of a log-sum-exp": (
        "top = out.max().item()\n"
        "    total = (out - top).exp().sum(1).log() + top\n"
        "    loss = (total - out[:, 0]).mean() + other(out).square().mean()"
    ),
    "a flooded loss": (
        "fit = (other(out) - x).square().mean()\n"
        "    flood = 0.1 * fit.item()\n"
        "    loss = (fit - flood).abs() + flood"
    ),
    "a score written by hand": (
        "drawn = Normal(out, 0.3).sample()\n"
        "    gain = -(drawn - x[:, :3]).square().sum(1)\n"
        "    score = ((drawn - out) ** 2).sum(1) * (gain - gain.mean())\n"
        "    loss = score.mean() + other(drawn).square().mean()"
    ),
    "samples with a gradient next to it": (
        f"{SPREAD}\n"
        "    loss = (other(q.rsample()) - x).square().mean() + near\n"
        "    loss = loss + other(q.sample()).abs().mean()"
    ),
    "a sample that is fed back to where its likelihood trains it": (
        f"{SPREAD}\n"
        "    fed = q.sample()\n"
        "    loss = near - q.log_prob(x[:, :3]).mean() + other(fed).square().mean()"
    ),
    "a number that another function has": (
        "penalty = 0.37\n    loss = (other(out) - x).square().mean() + penalty"
    ),
}
REPORT = """\
def report(x):
    penalty = net(x).square().mean().item()
    return penalty
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
async def test_it_is_not_blamed(service: Service, loss: str) -> None:
    script = TRAINING.format(before=REPORT, loss=loss)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert (found.verdict, found.causes, found.patches) == ("healthy", [], [])


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    "loss",
    [
        "loss = (other(q.sample()) - x).square().mean() + near",
        "z = q.sample()\n    p = Normal(other(z), 0.5)\n    loss = near - p.log_prob(x).mean()",
        "if other.training:\n        z = q.sample()\n    else:\n        z = q.rsample()\n"
        "    loss = (other(z) - x).square().mean() + near",
    ],
    ids=["alone", "with the likelihood of the data", "with another arm"],
)
async def test_a_sample_that_a_divergence_holds_is_still_found(service: Service, loss: str) -> None:
    script = TRAINING.format(before="", loss=f"{SPREAD}\n    {loss}")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["detached-loss"]
    assert "rsample()" in found.patches[0].script


LATER = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
for step in range(30):
    x = torch.randn(32, 6)
    over = max(net.weight.norm().item() - 2.0, 0.0)
    loss = F.cross_entropy(net(x), (x[:, 0] > 0).long()) + 10 * over
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_penalty_that_is_zero_at_first_is_a_fault(service: Service) -> None:
    found = await service.ask(DiagnosisRequest(script=LATER), RUNNING)
    assert [cause.pattern for cause in found.causes] == ["detached-loss"]
    assert found.patches[0].verification.status == "passed"
