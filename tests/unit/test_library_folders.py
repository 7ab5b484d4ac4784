"""Whose code a file is where libraries are installed into folders of any name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _asked(folder: Path, program: str) -> list[str]:
    """What a program prints whose libraries lie in `packages`, its own files in `project`."""
    for name in ("packages/trainer", "packages/trainer-1.0.dist-info", "packages/torch", "project"):
        folder.joinpath(name).mkdir(parents=True)
    for name in ("packages/trainer/loop.py", "packages/torch/nn.py", "project/train.py"):
        folder.joinpath(name).touch()
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(ROOT)!r})\n{program}"],
        cwd=folder / "project",
        env={**os.environ, "PYTHONPATH": str(folder / "packages")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ended.stdout.split()


def test_the_tracer_knows_libraries_beyond_site_packages(tmp_path: Path) -> None:
    program = """
from sandbox.inside.core import frames
frames.start_in('.')
for name in ('../packages/trainer/loop.py', '../packages/torch/nn.py', 'train.py'):
    print(frames.OWNERS[name], frames.file_name(name))
"""
    reported = _asked(tmp_path, program)
    assert reported[::2] == ["library", "inner", "user"]
    assert reported[1::2] == ["trainer/loop.py", "torch/nn.py", "train.py"]


def test_a_cause_is_looked_for_in_the_users_files(tmp_path: Path) -> None:
    program = """
from gradmend.explaining import _own
for name in ('../packages/trainer/loop.py', '../packages/torch/nn.py', 'train.py'):
    print(_own(name))
"""
    *libraries, own = _asked(tmp_path, program)
    assert libraries == ["None", "None"]
    assert own == str(tmp_path / "project" / "train.py")
