"""Losses that become infinite or NaN: no fault of the graph, and nothing that is healthy."""

from __future__ import annotations

import pytest

from app.present import wording
from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD, Tracing

TRAINING = """\
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr={lr})
for step in range(6):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""
SQUARE, LOG = "(net(x) - x.sum()).square().mean()", "net(x).log().mean()"
ROOT = "(net(x) * (step != 2)).square().sqrt().mean()"
ONE = "net(x).mean() + (net.weight[0, 0] * (step != 2)).square().sqrt()"


@pytest.mark.parametrize(
    ("loss", "lr", "found"),
    [
        (SQUARE, 1e6, ("inf", 4, 3, [])),
        (LOG, 0.1, ("NaN", 1, 0, [])),
        (ROOT, 0.1, ("NaN", 4, 3, ["net.weight", "net.bias"])),
        (ONE, 0.1, ("NaN", 4, 3, ["net.weight"])),
    ],
)
def test_the_first_loss_that_is_not_finite_is_recorded(
    traced: Tracing, loss: str, lr: float, found: tuple[str, int, int, list[str]]
) -> None:
    record = traced(HEAD + TRAINING.format(loss=loss, lr=lr)).trace.non_finite
    assert record is not None
    assert record.call.at.line == 10
    before = len(record.before)
    assert (record.value, record.call.iteration, before, record.params) == found


def test_a_loss_that_stays_finite_is_not_recorded(traced: Tracing) -> None:
    script = HEAD + TRAINING.format(loss=SQUARE, lr=0.01)
    assert traced(script).trace.non_finite is None


ANOMALY = """\
w = torch.zeros(2, requires_grad=True)
def backward():
    (w.sqrt() * 0).sum().backward()
{before}
    backward()
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
backward()
"""


@pytest.mark.parametrize(
    ("before", "printed", "raised"),
    [
        ("torch.autograd.set_detect_anomaly(True)\nif False:", "True True\n", True),
        ("with torch.autograd.detect_anomaly():", "", True),
        ("with torch.autograd.detect_anomaly(check_nan=False):", "False False\n", False),
        ("if True:", "False False\n", False),
    ],
)
def test_anomaly_mode_is_the_scripts_own(
    traced: Tracing, before: str, printed: str, raised: bool
) -> None:
    result = traced(HEAD + ANOMALY.format(before=before))
    failed = result.trace.failed
    assert (failed is not None and "SqrtBackward0" in failed.message) == raised
    assert result.stdout == printed


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("loss", "lr", "how", "advice"),
    [
        (SQUARE, 1e6, "diverges", "learning rate"),
        (LOG, 0.1, "were finite", "`log`"),
        (ROOT, 0.1, "into `net.weight`", "set_detect_anomaly"),
    ],
)
async def test_it_is_the_answer_and_never_called_healthy(
    service: Service, loss: str, lr: float, how: str, advice: str
) -> None:
    script = HEAD + TRAINING.format(loss=loss, lr=lr)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.verdict == "inconclusive"
    assert found.run is not None
    assert found.run.non_finite_loss is not None
    assert "of line 10" in found.summary
    assert how in found.summary
    assert "No fault of the autograd graph" in found.summary
    assert advice in found.next[0].text
    assert wording.state(found).words.startswith(
        f"The loss became {found.run.non_finite_loss.value}"
    )


@pytest.mark.asyncio(loop_scope="session")
async def test_next_to_a_fault_it_is_noted(service: Service) -> None:
    script = HEAD + TRAINING.format(loss=LOG, lr=0.1).replace("    optimizer.zero_grad()\n", "")
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    assert found.verdict == "confirmed"
    assert any("became NaN" in note for note in found.notes)
