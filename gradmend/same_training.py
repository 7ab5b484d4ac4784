"""`gradmend.assert_same_training`: a test that a change keeps the training the same.

The work is done by a process of Gradmend's own, in its sandbox: nothing is imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FURTHER_S = 300  # for what is not a run: a start under load, several runs of each version

Json = dict[str, Any]


class TrainingDiffers(AssertionError):
    """The two versions do not train the same, or cannot be compared; `verdict` is the whole
    answer, as `gradmend verify --json` prints it."""

    def __init__(self, message: str, verdict: Json) -> None:
        super().__init__(message)
        self.verdict = verdict


def assert_same_training(
    before: str | Path,
    after: str | Path,
    *,
    steps: int = 20,
    args: Sequence[str] = (),
    allow_truncated: bool = False,
    time_limit_s: float = 20,
) -> Json:
    """Run two versions of a script and return the verdict if their training is the same.

    Both are files, or `REV:path` in the git repository of the working directory; `args` are the
    arguments of both. At most the first `steps` optimizer steps are compared, within
    `time_limit_s` for one run. Raises `TrainingDiffers` (an `AssertionError`) where they differ or
    cannot be compared, and `ValueError` where a version cannot be read.
    """
    command = [sys.executable, "-P", "-m", "gradmend", "verify", str(before), str(after)]
    command += ["--steps", str(steps), "--time-limit", str(time_limit_s), "--json", "--", *args]
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        timeout=10 * time_limit_s + FURTHER_S,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        verdict: Json = json.loads(done.stdout)
    except ValueError:
        raise ValueError(done.stderr.strip() or f"gradmend verify: {done.returncode}") from None
    allowed = ("same", "truncated") if allow_truncated else ("same",)
    if verdict["verdict"] not in allowed:
        raise TrainingDiffers("\n".join(_message(verdict)), verdict)
    return verdict


def _message(verdict: Json) -> Iterator[str]:
    yield f"{verdict['verdict']}: {verdict['summary']}"
    witness = verdict["witness"]
    if witness is not None:
        parameter = f"{witness['parameter']} " if witness["parameter"] else ""
        gap = f" (difference {witness['difference']:.1e})" if witness["difference"] else ""
        yield f"  step {witness['step']}: {parameter}{witness['what']}{gap}"
        for side in ("before", "after"):
            if witness[f"line_{side}"]:
                file, code = witness[f"file_{side}"], witness[f"code_{side}"].strip()
                yield f"  {side}: {file}:{witness[f'line_{side}']}  {code}"
    yield from (f"  note: {note}" for note in verdict["notes"])
