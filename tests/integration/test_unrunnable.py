"""Parts of scripts through the whole service: explained, not run, and said to be so."""

from __future__ import annotations

from textwrap import indent

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, ask

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


async def diagnosed(script: str, traceback: str = ERROR) -> Findings:
    request = DiagnosisRequest(script=script, traceback=traceback)
    return (await ask([request], [RUNNING]))[RUNNING][0]


async def test_a_method_without_its_class() -> None:
    sent = indent(STEP, "    ")
    found = await diagnosed(sent)
    assert found.verdict == "likely"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.causes[0].location.line == 2
    patch = found.patches[0]
    assert patch.verification.status == "not_run"
    assert "\n+        self.memory = self.memory.detach()\n" in patch.diff
    assert set(sent.splitlines()) < set(patch.script.splitlines())


async def test_a_loop_without_its_model() -> None:
    found = await diagnosed(LOOP)
    assert found.verdict == "likely"
    assert found.causes[0].pattern == "recurrent-state"
    assert found.patches[0].verification.status == "not_run"


async def test_what_is_only_defined_was_not_seen_to_be_healthy() -> None:
    found = await diagnosed(f"def train():\n{indent(LOOP, '    ')}", "")
    assert found.run is not None
    assert found.run.backward_calls == 0
    assert found.verdict in ("likely", "inconclusive")
    assert "healthy" not in found.summary
