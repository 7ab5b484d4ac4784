"""A script that ends without a fault of autograd: the answer says how, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import load_case
from tests.integration.test_service_terminal import gradmend

pytestmark = [pytest.mark.rotating, pytest.mark.usefixtures("warm")]

HEALTHY = load_case("recurrent_state/ok_detached_each_batch").stripped
ENDLESS = """\
import torch

w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
while True:
    optimizer.zero_grad()
    (w * w).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("import sys\nsys.exit(3)\n", "ended by the script itself: The script ended itself in"),
        ("raise SystemExit('bad')\n", "line {line}, with the message: bad"),
        ("assert 1 > 2, 'no'\n", "ended by another error: An assertion failed in line {line}: no"),
        ("int('x')\n", "The script raised an error of its own in line {line}: ValueError: invalid"),
    ],
)
def test_a_script_that_ends_itself_is_said_to(tmp_path: Path, end: str, said: str) -> None:
    text = f"{HEALTHY}\n{end}"
    (tmp_path / "train.py").write_text(text)
    done = gradmend(tmp_path, "train.py")
    assert said.format(line=len(text.splitlines())) in done.stdout
    assert done.returncode == 2


def test_an_endless_script_says_what_ended_it_and_where(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENDLESS)
    (tmp_path / "spin.py").write_text("import torch\nn = 0\nwhile True:\n    n += 1\n")
    limit = ("--time-limit", "3")
    training = gradmend(tmp_path, "train.py", "-v", *limit)
    assert training.returncode == 0
    said = " ".join(training.stdout.split())
    assert "the last in line 7; the `while` loop in line 5 has no end" in said
    spinning = gradmend(tmp_path, "spin.py", *limit)
    assert spinning.returncode == 2
    assert "stopped at the time limit" in spinning.stdout
    assert "the time limit of 3 s ended it" in spinning.stdout
    assert "the `while` loop in line 3 has no end" in spinning.stdout
