"""The user's command, run again: what the sandbox is to a script that was sent."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.run.outcome import len_backwards
from gradmend.run_wrapper import landlocked
from gradmend.run_wrapper.exchange_dir import END, ExchangeDir, Process
from gradmend.run_wrapper.starting import (
    Running,
    Turns,
    Warm,
    can_be_warm,
    end,
    furnish,
    runs_at_once,
    start_fresh,
)
from sandbox.collect import run_result
from sandbox.protocol import Job, RunResult
from sandbox.watch.outcome import Ending, ProcessOutcome

LEAST_S = 0.5  # a run that has less is not begun
PLAIN = 3.0  # times as long as the failure took: what the last run of a fix may take in any case
BRIEF = 0.25  # of the failure's time: a run that takes longer makes only the calls it needs
FURTHER = 8  # backward calls beyond the one that failed
IN_USE = "already in use"  # a port, by a run that goes on at the same time
GRACE_S = 5.0  # for the other processes, once the one that is watched has ended
TAIL = 1 << 16
_WEIGHTS = (".pt", ".pth", ".ckpt", ".tar", ".bin", ".pkl", ".safetensors")
_TRACER = (
    *("mode", "follow", "freed", "reference", "keep_graphs", "frozen_steps", "gradients"),
    *("stop_after_backwards", "patience_s", "follow_s"),
    *("stop_after_steps", "stop_after_s", "state", "double", "gradcheck"),
)


class Again:
    """A session whose runs are the user's command with sources patched in memory.

    `first` is the process that failed, and `seen` what its run showed: the first traced run of the
    sources as they are is not made twice. A program without torch was not traced; then its runs
    import torch before it begins. No run begins after `most_s`, but for the last one of a fix, as
    the user will run it; `found_s` takes its place once one has shown a fault that raises nothing.
    `warm` has been started for them already.

    A compiled program is traced with its compiler off: what its mathematics is stays the same, and
    a run takes seconds. Its last run, without the tracer, is compiled.
    """

    def __init__(
        self,
        command: Sequence[str],
        first: Process,
        seen: RunResult | None,
        sources: Mapping[str, str],
        *,
        steps: int | None = None,
        most_s: float = math.inf,
        found_s: float = 0.0,
        warm: Warm | None = None,
    ) -> None:
        self._command = list(command)
        self._first = first
        self._seen = seen
        self._sources = sources
        self._steps = steps
        self._most_s, self._found_s = most_s, max(most_s, found_s)
        self._begun = time.monotonic()
        self._eager = first.is_compiled
        self._early = warm
        self._home = warm.home if warm is not None else ExchangeDir({})
        self._warming: asyncio.Future[Warm | None] | None = None
        self._start_s = 0.0  # that a start takes longer than a fork
        self._turns = Turns(runs_at_once(first))
        self.runs = 0
        self.troubles: set[str] = set()

    async def run(self, job: Job) -> RunResult:
        """Return the outcome of one run; cancelling ends it, with all that it started."""
        if job.harness is not None or job.spans:
            return RunResult(status="unavailable", reason="it is run as it is")
        if self._seen is not None and self._is_first(job):
            return self._seen
        while True:
            async with self._turns as shared:
                result = await self._in_time(job)
            if not shared or result.raised is None or IN_USE not in result.raised.message:
                return result
            self._turns.most = 1

    async def _in_time(self, job: Job) -> RunResult:
        if (left := self._left_s(job)) < LEAST_S:
            self._ran_out()
            return RunResult(status="unavailable", reason="the time was used up")
        self.runs += 1
        limit = min(job.time_limit_s, left)
        try:
            result = await self._again(job.model_copy(update={"time_limit_s": limit}))
        except OSError as error:
            why = f"its files cannot be written ({(error.strerror or 'unknown').lower()})"
            self.troubles.add(f"it could not be run again: {why}")
            return RunResult(status="unavailable", reason=why)
        if result.trace is not None and result.trace.silent:
            self._most_s = self._found_s
        elif result.status == "timed_out" and limit == left:
            self._ran_out()
        return result

    def _ran_out(self) -> None:
        spent = f"not all repeated runs ended within {self._most_s:.0f} s"
        self.troubles.add(f"{spent}; `gradmend run --patient` waits for them")

    def _left_s(self, job: Job) -> float:
        left = self._begun + self._most_s - time.monotonic()
        return max(left, PLAIN * self._first.seconds) if job.mode == "plain" else left

    def _is_first(self, job: Job) -> bool:
        asked = job.reference or job.frozen_steps or job.keep_graphs or job.follow
        if asked or job.mode != "trace" or job.stop_after_backwards:
            return False
        return not self._changed(job)

    def _changed(self, job: Job) -> dict[str, str]:
        return {n: text for n, text in job.files.items() if self._sources.get(n) != text}

    async def _again(self, job: Job) -> RunResult:
        """Run the command again: forked if possible; fresh if the fork was lost.

        The last run of a fix is forked too, unless it is to be compiled; a failure counts only in a
        fresh one.
        """
        result, is_last = None, job.mode == "plain"
        if not (is_last and self._eager) and (warm := await self._warm()) is not None:
            result = await self._made(job, warm)
            if result is None:
                await self._cool()
            elif is_last and result.status not in ("finished", "timed_out"):
                result = None
        return result or await self._made(job, None) or RunResult(status="unavailable")

    async def _made(self, job: Job, warm: Warm | None) -> RunResult | None:
        """Return the run; None for a fork that did not report its end."""
        box = ExchangeDir({}, self._home.path)
        try:
            self._prepare(box, job)
            began = time.monotonic()
            run: Running | None
            if warm is None:
                run = start_fresh(box.path, self._command)
            elif (run := await warm.run(box.path)) is None:
                return None
            limit = job.time_limit_s + (self._start_s if warm is None else 0.0)
            ending, code = await self._watched(run, box, limit)
            box.try_room()
            outcome = self._outcome(box, job, ending, code)
            self.troubles |= {f"not traced: {trouble}" for trouble in box.troubles()}
            outcome.duration_s = time.monotonic() - began
            if warm is not None and job.mode != "plain" and _is_lost(outcome):
                return None
            return await asyncio.to_thread(run_result, job, outcome, "own machine")
        finally:
            box.close()

    def begin(self) -> None:
        """Start to warm an interpreter, if runs can be forked from it."""
        if can_be_warm(self._first):
            warm = self._early or Warm(self._home, self._command, self._first)
            self._warming = asyncio.ensure_future(warm.ready())

    async def close(self) -> None:
        """End the warm interpreter: nothing is to be run any more."""
        try:
            await self._cool()
        finally:
            self._home.close()

    async def _warm(self) -> Warm | None:
        warm = await asyncio.shield(self._warming) if self._warming is not None else None
        self._start_s = warm.took_s if warm is not None else self._start_s
        return warm

    async def _cool(self) -> None:
        if self._warming is None:
            return
        self._warming.cancel()
        await asyncio.wait([self._warming])  # unlike awaiting it, passes over no Ctrl-C
        if not self._warming.cancelled():
            with suppress(OSError):
                if (warm := self._warming.result()) is not None:
                    await warm.close()
        self._warming = None

    def _prepare(self, box: ExchangeDir, job: Job) -> None:
        instructions: dict[str, Any] = {k: v for k, v in job.model_dump().items() if k in _TRACER}
        if self._steps is not None and job.stop_after_backwards:
            instructions["stop_after_backwards"] = self._steps
        elif self._seen is not None:
            instructions["least_backwards"] = len_backwards(self._seen) + FURTHER
            instructions["brief_s"] = BRIEF * self._first.seconds
        alone = self._first.engine and job.mode != "plain"
        instructions |= {"early": alone, "gradcheck": alone and job.gradcheck, "overlay": {}}
        instructions |= {"made": self._first.made, "gone": list(_checkpoints(self._first))}
        for number, (name, text) in enumerate(self._changed(job).items()):
            patched = box.path / f"patched-{number}.py"
            patched.write_bytes(text.encode())
            instructions["overlay"][self._first.files[name]] = str(patched)
        furnish(box, instructions, eager=self._eager and job.mode != "plain")

    async def _watched(
        self, run: Running, box: ExchangeDir, limit: float
    ) -> tuple[Ending, int | None]:
        """Wait until the run ends, the watched process has reported its end, or time is up."""
        try:
            async with asyncio.timeout(limit):
                return "exited", await self._ended(run, box)
        except TimeoutError:
            return "timed_out", None
        finally:
            await end(run)

    async def _ended(self, run: Running, box: ExchangeDir) -> int | None:
        """Return the exit code, if the run ends by itself shortly after the watched process."""
        ending = asyncio.ensure_future(run.wait())
        try:
            while not ending.done():
                await asyncio.wait([ending], timeout=0.2)
                watched = _one_like(self._first, box.processes())
                if watched is not None and watched.ended:
                    await asyncio.wait([ending], timeout=GRACE_S)
                    break
            return ending.result() if ending.done() else None
        finally:
            ending.cancel()

    def _outcome(
        self, box: ExchangeDir, job: Job, ending: Ending, code: int | None
    ) -> ProcessOutcome:
        watched = _one_like(self._first, box.processes())
        records = watched.records if watched is not None else b""
        if ending == "exited" and job.mode != "plain":
            code = _code(records, code)
        return ProcessOutcome(
            ending=ending,
            exit_code=code,
            walls=["landlock"] if landlocked.available() else [],
            stdout=_tail(box.path / "out"),
            stderr=_tail(box.path / "err"),
            records=records,
        )


def _one_like(first: Process, found: Sequence[Process]) -> Process | None:
    """Return the process that does what the first one did: the same program and rank."""
    same = [p for p in found if (p.rank, p.argv[:1]) == (first.rank, first.argv[:1])]
    return max(same or found, key=lambda p: len(p.records), default=None)


def _code(records: bytes, code: int | None) -> int | None:
    """Return the watched process's own exit code, by its last record; launchers leave with
    theirs."""
    *_, last = records.splitlines() or [b""]
    if not last.startswith(END):
        return code
    return 1 if b'"reason":"raised"' in last else 0


def _checkpoints(first: Process) -> Iterator[str]:
    """Yield the weights that the first run left in folders that it has made, and did not read
    itself: a program that resumes from them would not do again what it did."""
    for folder in first.made:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                seen = entry.stat()
                if entry.name.endswith(_WEIGHTS) and seen.st_atime_ns <= seen.st_mtime_ns:
                    yield entry.path


def _is_lost(outcome: ProcessOutcome) -> bool:
    """Return True if a fork may have ended, or hung, because it is one: it reported no end."""
    if outcome.ending == "timed_out":
        return b'{"t":"backward"' not in outcome.records
    return END not in outcome.records


def _tail(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(0, size - TAIL))
        return file.read()
    return b""
