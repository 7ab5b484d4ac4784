"""Traced runs for tests: a warm process forks one child a script, without walls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.collect import read_trace
from sandbox.records import Trace

HEAD = """\
import torch
from torch import nn
torch.manual_seed(0)
"""

_SERVER = """
import json, os, sys
from sandbox.inside.main import run_job
from sandbox.inside.warm import warm_up
warm_up()
for line in sys.stdin:
    directory, job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(directory)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        code = run_job(job, os.open("records", os.O_WRONLY | os.O_CREAT))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True)
class Traced:
    """What a traced script left."""

    code: int
    trace: Trace
    stdout: str
    stderr: str


class Tracing:
    """The warm process. Call it with a script's text and the fields of a job."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._runs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def __call__(self, script: str, **job: Any) -> Traced:
        self._runs += 1
        directory = self._home / str(self._runs)
        directory.mkdir()
        (directory / "train.py").write_text(textwrap.dedent(script))
        for name, text in job.pop("files", {}).items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(textwrap.dedent(text))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(directory), job]) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        trace, doubts = read_trace((directory / "records").read_bytes())
        assert not doubts
        assert trace.rejected == 0
        assert trace.ended is None or trace.ended.truncated == []
        out, err = ((directory / name).read_text() for name in ("stdout", "stderr"))
        return Traced(code, trace, out, err)

    def close(self) -> None:
        """End the warm process."""
        self._process.communicate()


def silent_kinds(traced: Tracing, script: str) -> list[str]:
    """The silent faults that a script behind the usual head shows without a doubt."""
    result = traced(HEAD + script)
    assert result.code == 0, result.stderr
    return [fault.kind for fault in result.trace.silent if not fault.doubtful]
