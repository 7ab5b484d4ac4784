"""The last commit as a witness: which change brought the fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_wrapper import gradmend

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]
HEALTHY = """\
import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(4, 8)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.01)
h = torch.zeros(2, 8)
for step in range(6):
    h = cell(torch.randn(2, 4), h.detach())
    optimizer.zero_grad()
    h.square().mean().backward()
    optimizer.step()
print("done")
"""
FAULTY = HEALTHY.replace("h.detach())", "h)").replace("lr=0.01", "lr=0.02")


def _commit(folder: Path, text: str) -> None:
    (folder / "train.py").write_text(text)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "train.py"], [*author, "commit", "-qm", "training"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, timeout=60)


def test_the_change_that_brought_a_fault_is_named(tmp_path: Path) -> None:
    _commit(tmp_path, HEALTHY)
    (tmp_path / "train.py").write_text(FAULTY)
    ran = gradmend(["run", "--patient", "--", sys.executable, "train.py"], tmp_path)
    assert ran.code == 1
    assert (
        "train.py:8 brought the fault: `h = cell(torch.randn(2, 4), h.detach())` became "
        "`h = cell(torch.randn(2, 4), h)`; the last commit does not fail"
    ) in ran.stderr
    assert (tmp_path / "train.py").read_text() == FAULTY


def test_a_commit_that_fails_too_says_nothing(tmp_path: Path) -> None:
    _commit(tmp_path, FAULTY)
    (tmp_path / "train.py").write_text(FAULTY.replace("lr=0.02", "lr=0.03"))
    ran = gradmend(["run", "--patient", "--", sys.executable, "train.py"], tmp_path)
    assert ran.code == 1
    assert "brought" not in ran.stderr
