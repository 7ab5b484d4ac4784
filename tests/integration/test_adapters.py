"""Adapters on frozen layers whose optimizer holds other parameters than those that learn."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

ADAPTED = """\
class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(2, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, 2))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T

layer, head = nn.Linear(6, 4), nn.Linear(4, 1)
{made}
for step in range(8):
    x = torch.randn(8, 6)
    loss = (head(adapted(x).relu()) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BEFORE = """\
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()])
adapted = Adapted(layer)"""
FROZEN = """\
adapted = Adapted(layer)
optimizer = torch.optim.Adam([p for p in adapted.parameters() if not p.requires_grad])"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("made", [BEFORE, FROZEN], ids=["made before", "given the frozen"])
async def test_only_a_patch_by_which_the_adapters_learn_has_passed(
    service: Service, made: str
) -> None:
    script = HEAD + ADAPTED.format(made=made)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    passed = [patch for patch in found.patches if patch.verification.status == "passed"]
    assert passed
    for patch in passed:
        assert "adapted.down, adapted.up" in patch.script
    checks = [patch.verification.checks for patch in found.patches if patch not in passed]
    details = [check.detail for one in checks for check in one if check.status == "failed"]
    assert details == ["these learn no more than before: `adapted.down`, `adapted.up`"] * len(
        checks
    )
    assert len(checks) == (made == BEFORE)


ENCODED = """\
encoder, head = nn.Linear(4, 6), nn.Linear(6, 1)
{loaded}
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(8):
    x = torch.randn(8, 4)
    loss = (head(encoder(x).relu()) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOADED = "encoder.load_state_dict(nn.Linear(4, 6).state_dict())"


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(("loaded", "verdict"), [("pass", "confirmed"), (LOADED, "healthy")])
async def test_why_gradients_without_an_optimizer_are_no_fault_is_said(
    service: Service, loaded: str, verdict: str
) -> None:
    script = HEAD + ENCODED.format(loaded=loaded)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.verdict == verdict
    assert ("No fault, since the script loads weights" in found.summary) is (verdict == "healthy")
