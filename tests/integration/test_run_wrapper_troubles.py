"""`gradmend run` where it cannot do its work: no room, no folder, a torch that is too old."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.run_wrapper import ONE_FILE, ROOT, Ran, call, gradmend

pytestmark = [pytest.mark.timeout(900), pytest.mark.rotating]
PYTHON = sys.executable
COMMAND = ["run", "--patient", "--", PYTHON, "train.py"]
LONG = """\
import sys
import torch
w = torch.ones(2, requires_grad=True)
for _ in range(400):
    loss = (w * w).sum()
    loss.backward()
if "fail" in sys.argv:
    loss.backward()
print("done")
"""
PROGRAM = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import gradmend.command as c; c.main()"


def full(blocks: int, words: list[str], home: Path) -> Ran:
    """Gradmend where no file may grow beyond so many blocks, as on a full disk."""
    limit = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh"]
    # Python would keep what it compiles, cut as it is.
    words = [*limit, PYTHON, "-P", "-c", PROGRAM, *words]
    return call(words, home, PYTHONDONTWRITEBYTECODE="1")


def test_a_folder_that_takes_no_files(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ONE_FILE)
    words = ["run", "--no-rerun", "--", PYTHON, "train.py"]
    ran = gradmend(words, tmp_path, XDG_CACHE_HOME="/proc/none")
    assert ran.code == 1
    assert "train.py:3" in ran.stderr
    assert gradmend(["show"], tmp_path, XDG_CACHE_HOME="/proc/none").code == 0


def test_a_fix_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ONE_FILE)
    gradmend(["run", "--no-rerun", "--", PYTHON, "train.py"], tmp_path)
    done = full(0, ["apply", "--unsafe-fixes", "1"], tmp_path)
    assert (done.code, "nothing was changed: file too large" in done.stderr) == (1, True)
    assert (tmp_path / "train.py").read_text() == ONE_FILE
    assert [path.name for path in tmp_path.iterdir() if path.name != ".cache"] == ["train.py"]


def test_a_command_runs_without_room_for_records(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LONG)
    ran = full(0, COMMAND, tmp_path)
    assert (ran.code, ran.stdout) == (0, "done\n")
    assert "no room for records" in ran.stderr
    assert "the command runs without a tracer" in ran.stderr


def test_records_that_were_cut_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LONG)
    healthy = full(16, COMMAND, tmp_path)
    assert (healthy.code, healthy.stdout, healthy.stderr) == (0, "done\n", "")
    ran = full(16, [*COMMAND, "fail"], tmp_path)
    assert ran.code == 1
    assert "no cause can be named: the records stop before the program did" in ran.stderr
    assert "Errno" not in ran.stderr


def test_no_fix_is_judged_by_runs_that_had_no_room(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ONE_FILE)
    ran = full(100, COMMAND, tmp_path)
    assert ran.code == 1
    assert "train.py:3  GM004 `y`: The forward ran once" in ran.stderr
    assert "it could not be run again: its files cannot be written (file too large)" in ran.stderr
    assert "– not tested" in ran.stderr


def test_a_torch_that_is_too_old_is_reported(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nraise SystemExit(torch.train())\n")
    (tmp_path / "torch.py").write_text(
        "__version__ = '1.13.1'\ndef train():\n    raise RuntimeError('a second time')\n"
    )
    ran = gradmend(COMMAND, tmp_path)
    assert ran.code == 1
    assert "RuntimeError: a second time" in ran.stderr
    assert "not traced: torch 1.13.1 cannot be traced; 2.1 is the oldest that can" in ran.stderr
