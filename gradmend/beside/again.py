"""The user's command, run again: what the sandbox is to a script that was sent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradmend.beside import walled
from gradmend.beside.box import Box, Process
from sandbox.collect import run_result
from sandbox.protocol import Job, RunResult
from sandbox.watch.outcome import Ending, Outcome

GRACE_S = 5.0  # for the other processes, once the one that is watched has ended
TAIL = 1 << 16
_TRACER = (
    *("mode", "follow", "freed", "reference", "keep_graphs", "frozen_steps", "gradients"),
    *("stop_after_backwards", "patience_s", "follow_s"),
)


class Again:
    """A session whose runs are the user's command with sources patched in memory.

    `first` is the process that failed, and `seen` what its run showed: the first traced run of the
    sources as they are is not made twice.
    """

    def __init__(
        self,
        command: Sequence[str],
        first: Process,
        seen: RunResult,
        sources: Mapping[str, str],
        *,
        steps: int | None = None,
    ) -> None:
        self._command = list(command)
        self._first = first
        self._seen = seen
        self._sources = sources
        self._steps = steps
        self._turn = asyncio.Lock()  # one at a time: memory, ports and devices are the user's
        self.runs = 0

    async def run(self, job: Job) -> RunResult:
        """The outcome of one run; cancelling ends it, with all that it started."""
        if job.world is not None or job.spans:
            return RunResult(status="unavailable", reason="it is run as it is")
        if self._is_first(job):
            return self._seen
        async with self._turn:
            self.runs += 1
            return await self._again(job)

    def _is_first(self, job: Job) -> bool:
        asked = job.reference or job.frozen_steps or job.keep_graphs or job.follow
        if asked or job.mode != "trace" or job.stop_after_backwards:
            return False
        return not self._changed(job)

    def _changed(self, job: Job) -> dict[str, str]:
        return {n: text for n, text in job.files.items() if self._sources.get(n) != text}

    async def _again(self, job: Job) -> RunResult:
        box = Box({})
        try:
            self._prepare(box, job)
            began = time.monotonic()
            ending, code = await self._watched(box, job)
            outcome = self._outcome(box, job, ending, code)
            outcome.duration_s = time.monotonic() - began
            return await asyncio.to_thread(run_result, job, outcome, "beside")
        finally:
            box.close()

    def _prepare(self, box: Box, job: Job) -> None:
        told: dict[str, Any] = {k: v for k, v in job.model_dump().items() if k in _TRACER}
        if self._steps is not None and job.stop_after_backwards:
            told["stop_after_backwards"] = self._steps
        told["scratch"] = str(box.path / "files")
        told["kept"] = [str(box.path), *walled.kept()]
        told["overlay"] = {}
        for number, (name, text) in enumerate(self._changed(job).items()):
            patched = box.path / f"patched-{number}.py"
            patched.write_bytes(text.encode())
            told["overlay"][self._first.files[name]] = str(patched)
        (box.path / "job.json").write_text(json.dumps(told))
        for folder in ("files", "tmp"):
            (box.path / folder).mkdir()
        environment = box.environment()
        environment |= {"TMPDIR": str(box.path / "tmp"), "PYTHONUNBUFFERED": "1"}
        environment |= {"WANDB_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1"}
        (box.path / "environment.json").write_text(json.dumps(environment))

    async def _watched(self, box: Box, job: Job) -> tuple[Ending, int | None]:
        """Run the command until it ends, the watched process has told all, or time is up."""
        with (box.path / "out").open("wb") as out, (box.path / "err").open("wb") as err:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gradmend.beside.walled", str(box.path)),
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(Path(walled.__file__).parents[2])},
            )
        try:
            async with asyncio.timeout(job.time_limit_s):
                await self._ended(process, box)
            return "exited", process.returncode
        except TimeoutError:
            return "timed_out", None
        finally:
            await _end(process)

    async def _ended(self, process: asyncio.subprocess.Process, box: Box) -> None:
        """Until the command ends by itself, or a while after the watched process has."""
        ending = asyncio.ensure_future(process.wait())
        while not ending.done():
            await asyncio.wait([ending], timeout=0.2)
            watched = _one_like(self._first, box.processes())
            if watched is not None and b'{"t":"end"' in watched.records:
                await asyncio.wait([ending], timeout=GRACE_S)
                ending.cancel()
                return

    def _outcome(self, box: Box, job: Job, ending: Ending, code: int | None) -> Outcome:
        watched = _one_like(self._first, box.processes())
        records = watched.records if watched is not None else b""
        if ending == "exited" and job.mode != "plain":
            code = _code(records, code)
        return Outcome(
            ending=ending,
            exit_code=code,
            walls=["landlock"] if walled.available() else [],
            stdout=_tail(box.path / "out"),
            stderr=_tail(box.path / "err"),
            records=records,
        )


def _one_like(first: Process, found: Sequence[Process]) -> Process | None:
    """The process that does what the first one did: the same program and rank."""
    same = [p for p in found if (p.rank, p.argv[:1]) == (first.rank, first.argv[:1])]
    return max(same or found, key=lambda p: len(p.records), default=None)


def _code(records: bytes, code: int | None) -> int | None:
    """The watched process's own exit code, by its last record; launchers leave with theirs."""
    *_, last = records.splitlines() or [b""]
    if not last.startswith(b'{"t":"end"'):
        return code
    return 1 if b'"reason":"raised"' in last else 0


def _tail(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - TAIL))
        return file.read()
    return b""


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole session of the command: politely, then for good."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), patience)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
