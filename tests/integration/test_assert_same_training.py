"""`gradmend.assert_same_training` in a test of the user's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gradmend
from tests.verified import CHANGED, HEALTHY, REFACTORED, UNREPEATABLE

pytestmark = pytest.mark.rotating

TESTS = """\
import gradmend


def test_refactoring():
    verdict = gradmend.assert_same_training("old.py", "new.py", steps=6)
    assert verdict["steps_compared"] == 6


def test_change():
    gradmend.assert_same_training("old.py", "changed.py", steps=6)
"""


def test_in_pytest_a_refactoring_passes_and_a_change_fails_with_the_step(tmp_path: Path) -> None:
    for name, text in (("old", HEALTHY), ("new", REFACTORED), ("changed", CHANGED)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "test_training.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_training.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "TrainingDiffers: changed: " in done.stdout
    assert "step 1: " in done.stdout


def test_what_cannot_be_compared_does_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(UNREPEATABLE)
    with pytest.raises(gradmend.TrainingDiffers, match="not_comparable: ") as caught:
        gradmend.assert_same_training("train.py", "train.py", steps=4)
    assert caught.value.verdict["verdict"] == "not_comparable"
    with pytest.raises(ValueError, match="no such file"):
        gradmend.assert_same_training("train.py", "nowhere.py")
