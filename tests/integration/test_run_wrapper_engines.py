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


TRAINED = """\
class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad = data, parents, 0.0
        self.push = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))
        def push():
            self.grad += out.grad
            other.grad += out.grad
        out.push = push
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))
        def push():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out.push = push
        return out

    def backward(self):
        self.grad, todo = 1.0, [self]
        while todo:
            node = todo.pop()
            node.push()
            todo += node.parents

class Descent:
    def __init__(self, leaves):
        self.leaves = leaves

    def step(self):
        for leaf in self.leaves:
            leaf.data -= 0.1 * leaf.grad

    def zero_grad(self):
        for leaf in self.leaves:
            leaf.grad = 0.0

weights = [Value(0.5), Value(-1.5)]
descent = Descent(weights)
for _ in range(12):
    loss = weights[0] * Value(2.0) + weights[1] * weights[0]
    loss.backward()
    descent.step()
    descent.zero_grad()
"""


def test_an_engine_without_torch_is_checked(tmp_path: Path) -> None:
    """What raises nothing is found in a run with torch; the fix is the script's own method."""
    (tmp_path / "train.py").write_text(TRAINED)
    ran = gradmend(["run", "--check", "--", *COMMAND], tmp_path)
    assert ran.code == 0
    said = "checked 12 backward calls of the program's own engine, in a repeated run"
    assert f"gradmend: {said}: no fault was found" in ran.stderr, ran.stderr
    (tmp_path / "train.py").write_text(TRAINED.replace("    descent.zero_grad()\n", ""))
    ran = gradmend(["run", "--check", "--", *COMMAND], tmp_path)
    assert "A step also uses gradients of earlier steps" in ran.stderr, ran.stderr
    assert "+   45 │     descent.zero_grad()" in ran.stderr, ran.stderr


def test_an_engine_that_is_not_run_again_is_not_called_checked(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINED)
    ran = gradmend(["run", "--check", "--no-rerun", "--", *COMMAND], tmp_path)
    assert "gradmend: checked nothing: no backward call was seen" in ran.stderr, ran.stderr
