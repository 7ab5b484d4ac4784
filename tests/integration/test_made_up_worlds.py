"""Parts of programs that reach their error in a world made up for them, where a fix is tried."""

from __future__ import annotations

import pytest

from app.schemas import DiagnosisRequest, Findings
from benchmarks.asking import RUNNING, ask

AGAIN = "RuntimeError: Trying to backward through the graph a second time"
LOADER_OVER_WHAT_IS_NOT_SENT = """\
anchors = F.normalize(shape_net(templates), dim=-1)
for scans, kinds in DataLoader(scanned, 64):
    likeness = F.normalize(scan_net(scans), dim=-1) @ anchors.T
    loss = F.cross_entropy(likeness, kinds)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TRAINER_WALKS_TOO = """\
class Forecast(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True)
        self.out = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        past, rain = batch
        loss = F.mse_loss(self.out(self.rnn(past)[0][:, -1]), rain)
        loss.backward()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""


async def asked(script: str, error: str = "", files: dict[str, str] | None = None) -> Findings:
    sent = [{"path": path, "content": text} for path, text in (files or {}).items()]
    request = DiagnosisRequest.model_validate(
        {"script": script, "traceback": error or None, "files": sent}
    )
    (found,) = (await ask([request], [RUNNING]))[RUNNING]
    return found


@pytest.mark.parametrize(
    ("script", "error", "pattern", "line"),
    [
        pytest.param(LOADER_OVER_WHAT_IS_NOT_SENT, AGAIN, "derived-outside-loop", 1, id="loader"),
        pytest.param(TRAINER_WALKS_TOO, AGAIN, "duplicate-backward", 11, id="trainer"),
    ],
)
async def test_a_part_comes_to_its_error_and_a_fix_is_tried(
    script: str, error: str, pattern: str, line: int
) -> None:
    found = await asked(script, error)
    assert found.basis == "completed"
    assert (pattern, line) in [(c.pattern, c.location.line) for c in found.causes[:2]]
    assert found.patches[0].verification.status == "passed"
