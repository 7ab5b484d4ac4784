"""`gradmend run` around programs that have an autograd engine of their own, and no torch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.case_files import load_case
from tests.run_wrapper import ROOT, call, gradmend

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]
COMMAND = [sys.executable, "train.py"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text((ROOT / "app/examples/7_own_engine.py").read_text())
    return tmp_path


def test_an_engine_is_fixed(project: Path) -> None:
    ran = gradmend(["run", "--patient", "--", *COMMAND], project)
    assert ran.code == 1
    assert "`state`: A recurrent state still holds" in ran.stderr
    assert "✓ your command ran again with it: no error in 8 backward calls" in ran.stderr
    assert "changed train.py" in gradmend(["apply"], project).stderr
    assert call(COMMAND, project).code == 0


def test_a_wrong_derivative_that_ends_in_an_overflow_is_fixed(tmp_path: Path) -> None:
    case = load_case("wrong_gradient/ends_in_overflow")
    (tmp_path / "train.py").write_text(case.stripped)
    ran = gradmend(["run", "--patient", "--", *COMMAND], tmp_path)
    assert ran.code == 1
    assert "An operation gives an input a wrong derivative" in ran.stderr
    assert "✓ your command ran again with it: no error in 80 backward calls" in ran.stderr
    assert "changed train.py" in gradmend(["apply", "--unsafe-fixes"], tmp_path).stderr
    assert (tmp_path / "train.py").read_text() == case.fixed[0].text


def test_an_overflow_outside_of_a_backward_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def forward(x):\n    return x**999.0\n\n\nforward(9.0)\n")
    ran = gradmend(["run", "--", *COMMAND], tmp_path)
    assert ran.code == 1
    assert "no Python of this command imported torch" in ran.stderr


def test_an_interpreter_that_has_no_torch_is_reported(project: Path) -> None:
    (project / "packages/torch").mkdir(parents=True)
    (project / "packages/torch/__init__.py").write_text("raise ImportError('none for this one')\n")
    ran = gradmend(["run", "--", *COMMAND], project, PYTHONPATH=str(project / "packages"))
    assert ran.code == 1
    assert "torch cannot be imported (ImportError: none for this one)" in ran.stderr


def test_other_errors_without_torch_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def load(name):\n    return {}[name]\n\n\nload('graph')\n")
    ran = gradmend(["run", "--", *COMMAND], tmp_path)
    assert ran.code == 1
    assert "no Python of this command imported torch" in ran.stderr
