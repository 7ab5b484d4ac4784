"""Causes reported by the program that failed: `watch`, `explain`, pytest, Lightning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradmend.explaining import concerns_autograd

pytestmark = pytest.mark.rotating

TRAIN = """\
import torch
from torch import nn

def train(steps):
    rnn, head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
    state = (torch.zeros(1, 4, 16), torch.zeros(1, 4, 16))
    for step in range(steps):
        x, y = torch.randn(4, 12, 8), torch.randn(4, 12, 1)
        out, state = rnn(x, state)
        loss = nn.functional.mse_loss(head(out), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
WATCHED = """
import sys, gradmend
with gradmend.watch():
    pass
before = set(sys.modules)
try:
    train(3)
except RuntimeError as error:
    told = gradmend.explain()
    assert (told.pattern, told.line, told.tested) == ("recurrent-state", 10, False), told
    assert "+        state = tuple(t.detach() for t in state)" in told.diff, told.diff
    assert str(told) == str(gradmend.explain(error))
assert gradmend.explain(KeyError("grad")) is None
for name in ("app", "analyzers", "provenance", "pydantic", "rich"):
    assert name not in sys.modules, name
gradmend.watch()(train)(3)
"""
TESTS = """
def test_trains():
    train(3)

def test_plain():
    raise RuntimeError("the graph of sales is upside down")
"""
LIGHTNING = """\
import lightning
import torch
from gradmend.lightning import GradmendCallback

class Lit(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(8, 16, batch_first=True)
        self.state = torch.zeros(1, 4, 16)

    def training_step(self, batch, index):
        out, self.state = self.rnn(batch, self.state)
        return out.pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

data = torch.utils.data.DataLoader(torch.randn(12, 5, 8), batch_size=4)
trainer = lightning.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False, callbacks=[GradmendCallback()],
)
trainer.fit(Lit(), data)
"""
UNDER = "gradmend: `state`: a recurrent state still holds the previous iteration's graph"


def python(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=directory, capture_output=True, text=True, timeout=200
    )


def test_a_watched_error_carries_its_cause(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + WATCHED)
    done = python(tmp_path, "train.py")
    assert done.returncode == 1
    last = done.stderr[done.stderr.rindex("RuntimeError: Trying to backward") :]
    assert UNDER in last
    assert "train.py:10  out, state = rnn(x, state)" in last
    assert "probable fix, not tested:\n--- a/train.py" in last


def test_pytest_reports_the_cause_where_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "test_train.py").write_text(TRAIN + TESTS)
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_train.py")
    asked = python(tmp_path, *plain, "--gradmend")
    assert asked.stdout.count(" gradmend -") == 1
    assert asked.stdout.index("def test_plain") > asked.stdout.index(UNDER)
    assert "2 failed" in asked.stdout
    assert "gradmend: " not in python(tmp_path, *plain).stdout


def test_a_lightning_trainer_reports_the_cause(tmp_path: Path) -> None:
    (tmp_path / "lit.py").write_text(LIGHTNING)
    done = python(tmp_path, "lit.py")
    assert done.returncode == 1
    reported = done.stderr[done.stderr.rindex("RuntimeError: Trying to backward") :]
    assert "gradmend: `self.state`" in reported
    assert "self.state.detach()" in reported


@pytest.mark.parametrize(
    ("error", "looked_at"),
    [
        (RuntimeError("Trying to backward through the graph a second time"), True),
        (TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'"), True),
        (RuntimeError("CUDA out of memory"), False),
        (KeyboardInterrupt("grad"), False),
    ],
)
def test_only_what_may_concern_autograd_is_looked_at(error: BaseException, looked_at: bool) -> None:
    assert concerns_autograd(error) is looked_at
