"""How large what names keep has become: every figure with the iteration that it was measured in."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest
from benchmarks.asking import RUNNING, Service
from tests.tracing import HEAD

TRAINING = """\
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{kept}
for step in range(12):
    loss = net(torch.randn(2, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {keep}
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("kept", "keep", "figures"),
    [
        ("total = 0", "total = total + loss", "Graph nodes that it keeps alive: "),
        ("losses = []", "losses.append(loss)", "Tensors with a graph in it: "),
    ],
)
async def test_sizes_name_what_they_count_and_when(
    service: Service, kept: str, keep: str, figures: str
) -> None:
    script = HEAD + TRAINING.format(kept=kept, keep=keep)
    found = await service.ask(DiagnosisRequest(script=script), RUNNING)
    measured = found.causes[0].explanation.partition(figures)[2]
    sizes = [int(part.partition(" at iteration ")[0]) for part in measured.rstrip(".").split(", ")]
    at = [int(part.partition(" at iteration ")[2]) for part in measured.rstrip(".").split(", ")]
    rates = {size / (number - 1) for size, number in zip(sizes, at, strict=True)}
    assert at == [3, 5, 7]
    assert len(rates) == 1  # as much in each iteration, as the checks of a patch say
