"""Commands of users: projects with their data and packages in a folder, and `gradmend run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.schemas import Findings
from tests.project_files import ProjectCase

ROOT = Path(__file__).parent.parent
_COMMAND = "import sys; sys.path.insert(0, {root!r}); import gradmend.command as c; c.main()"
ONE_FILE = """\
import torch
w = torch.ones(2, requires_grad=True)
y = (w * w).sum()
for _ in range(4):
    y.backward()
"""


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    stdout: str
    stderr: str

    @property
    def findings(self) -> Findings:
        """What `--json` printed."""
        return Findings.model_validate(json.loads(self.stdout.splitlines()[-1]))


def environment(home: Path, **more: str) -> dict[str, str]:
    """A user's environment; results are kept below `home`."""
    given = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return {**given, "XDG_CACHE_HOME": str(home / ".cache"), "OMP_NUM_THREADS": "1", **more}


def call(words: list[str], home: Path, *, timeout: float = 600, **more: str) -> Ran:
    """Run a command in a folder."""
    done = subprocess.run(
        words,
        cwd=home,
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def gradmend(words: list[str], home: Path, *, timeout: float = 600, **more: str) -> Ran:
    """The command `gradmend` of this checkout."""
    return call(_words(words), home, timeout=timeout, **more)


def started(words: list[str], home: Path, **options: Any) -> subprocess.Popen[str]:
    """The same command, running; `options` are those of `Popen`."""
    return subprocess.Popen(
        _words(words),
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def _words(words: list[str]) -> list[str]:
    return [sys.executable, "-P", "-c", _COMMAND.format(root=str(ROOT)), *words]


def put_down(case: ProjectCase, folder: Path) -> list[str]:
    """Write a project with all that it needs; the command that starts it."""
    job = case.proof()
    for name, text in job.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    start = ["-m", job.module] if job.module else [job.entry]
    return [sys.executable, *start, *job.argv]
