"""Traced runs for tests: a warm process forks one child a script, without walls; or a recording of
such a run by the very same tracer."""

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
from tests.recorded.digests import digest_of, tracer_digest
from tests.recorded.packs import Run
from tests.recorded.recorder import Recorder
from tests.recorded.results import normal

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
    """The warm process, started when first needed. Call it with a script's text and the fields of
    a job."""

    def __init__(self, home: Path, recorder: Recorder | None = None) -> None:
        self._home = home
        self._runs = 0
        self._recorder = recorder or Recorder("live")
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, script: str, **job: Any) -> Traced:
        files = {"train.py": script, **job.pop("files", {})}
        request = {"traced": {name: textwrap.dedent(text) for name, text in files.items()}, **job}
        return self.run(request)

    def run(self, request: dict[str, Any]) -> Traced:
        """Return what a request as it is recorded leaves: `traced` are its files."""
        key = self._recorder.turn(digest_of(request))
        answer = self._recorder.recall(key, tracer_digest())
        if answer is None:
            answer = self.answer_to(request)
            self._recorder.keep(key, Run(request, answer, tracer_digest()))
        return Traced(**{**answer, "trace": Trace.model_validate(answer["trace"])})

    def answer_to(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return what is recorded of a run made now."""
        traced = self._made(**request)
        trace = traced.trace.model_dump(mode="json", exclude_defaults=True)
        return normal({**vars(traced), "trace": trace})

    def _made(self, traced: dict[str, str], notes: int = 0, **job: Any) -> Traced:
        """Run it; `notes`: how many errors of the tracer's own it may note."""
        self._runs += 1
        directory = self._home / str(self._runs)
        for name, text in traced.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        server = self._process or self._started()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([str(directory), job]) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        trace, doubts = read_trace((directory / "records").read_bytes())
        assert not doubts
        assert trace.rejected == 0
        noted = trace.ended.truncated if trace.ended is not None else []
        assert len(noted) <= notes, noted
        out, err = ((directory / name).read_text() for name in ("stdout", "stderr"))
        return Traced(code, trace, out, err)

    def _started(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        return self._process

    def close(self) -> None:
        """End the warm process, if it was started."""
        if self._process is not None:
            self._process.communicate()


def silent_kinds(traced: Tracing, script: str) -> list[str]:
    """The silent faults that a script behind the usual head shows without a doubt."""
    result = traced(HEAD + script)
    assert result.code == 0, result.stderr
    return [fault.kind for fault in result.trace.silent if not fault.doubtful]
