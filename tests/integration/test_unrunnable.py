"""Parts of scripts through the whole service: completed, run, and said to be so."""

from __future__ import annotations

from textwrap import indent

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, Service

pytestmark = pytest.mark.asyncio(loop_scope="session")

ERROR = "RuntimeError: Trying to backward through the graph a second time"
STEP = """\
def training_step(self, batch, batch_idx):
    z, self.memory = self.encoder(batch, self.memory)
    return self.head(z).mean()
"""
LOOP = """\
for x in loader:
    out, hidden = model(x, hidden)
    loss = criterion(out, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def diagnosed(service: Service, script: str, traceback: str = ERROR) -> Findings:
    request = DiagnosisRequest(script=script, traceback=traceback)
    return await service.ask(request, RUNNING)


async def test_a_method_without_its_class(service: Service) -> None:
    sent = indent(STEP, "    ")
    found = await diagnosed(service, sent)
    assert found.verdict == "likely"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.causes[0].location.line == 2
    patch = found.patches[0]
    assert (found.basis, patch.verification.status) == ("completed", "passed")
    assert {"self.encoder", "self.head", "batch"} <= {one.name for one in found.world}
    assert "\n+        self.memory = self.memory.detach()\n" in patch.diff
    assert set(sent.splitlines()) < set(patch.script.splitlines())


async def test_a_loop_without_its_model(service: Service) -> None:
    found = await diagnosed(service, LOOP)
    assert found.verdict == "likely"
    assert found.causes[0].pattern == "recurrent-state"
    assert (found.basis, found.patches[0].verification.status) == ("completed", "passed")


async def test_what_is_only_defined_was_not_seen_to_be_healthy(service: Service) -> None:
    found = await diagnosed(service, f"def train():\n{indent(LOOP, '    ')}", "")
    assert found.verdict in ("likely", "inconclusive")
    assert "healthy" not in found.summary


WRAPPED = """\
import torch
from torch import nn

walk = torch.Tensor.backward
torch.Tensor.backward = lambda self, *given, **named: walk(self, *given, **named)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{outside}
for _ in range(3):
    {inside}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOSS = "loss = net(torch.randn(4, 3)).tanh().mean()"


async def test_a_script_that_changes_its_instruments_is_not_called_healthy(
    service: Service,
) -> None:
    found = await diagnosed(service, WRAPPED.format(outside="", inside=LOSS), "")
    assert found.run is not None
    assert any("Tensor.backward" in said for said in found.run.tampered)
    assert found.verdict == "inconclusive"
    assert "changed what it is observed through" in found.summary


async def test_nor_is_its_patch_called_checked(service: Service) -> None:
    found = await diagnosed(service, WRAPPED.format(outside=LOSS, inside="print(loss)"), "")
    assert found.patches
    for patch in found.patches:
        assert patch.verification.status != "passed"


MODEL_ONLY = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.mark.parametrize(
    "traceback", ["", "RuntimeError: element 0 of tensors does not require grad"]
)
async def test_a_model_that_nothing_trains_is_not_called_healthy(
    service: Service, traceback: str
) -> None:
    found = await diagnosed(service, MODEL_ONLY, traceback)
    assert found.verdict == "inconclusive"
    assert "healthy" not in found.summary


async def test_a_script_without_a_backward_call_shows_nothing(service: Service) -> None:
    found = await diagnosed(service, "import torch\nprint(torch.ones(3).sum())\n", "")
    assert found.run is not None
    assert found.run.backward_calls == 0
    assert found.verdict == "inconclusive"


ENDLESS = """\
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_training_that_the_time_limit_ends_is_healthy_as_far_as_it_was_followed(
    service: Service,
) -> None:
    request = DiagnosisRequest(script=ENDLESS, time_limit_s=5)
    found = await service.ask(request, RUNNING)
    assert found.run is not None
    assert found.run.backward_calls >= 10
    assert found.verdict == "healthy"
    assert f"after {found.run.backward_calls} backward calls" in found.summary


async def test_with_an_error_to_explain_the_time_limit_leaves_it_open(service: Service) -> None:
    request = DiagnosisRequest(script=ENDLESS, time_limit_s=5, traceback=ERROR)
    found = await service.ask(request, RUNNING)
    assert found.verdict == "inconclusive"


async def test_the_given_error_is_reported_to_be_the_one_that_ended_the_run(
    service: Service,
) -> None:
    script = "raise RuntimeError('the sweep has begun before')\n"
    found = await diagnosed(service, script, "RuntimeError: the sweep has begun before")
    assert found.verdict == "inconclusive"
    assert "ended in that error" in found.summary
    found = await diagnosed(service, script, ERROR)
    assert "stops before that error" in found.summary
