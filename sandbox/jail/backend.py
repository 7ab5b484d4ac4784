"""The launcher's side of the jail: keeps a warm zygote, and asks it for runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

import sandbox
from sandbox.collect import run_result
from sandbox.environment import ENVIRONMENT
from sandbox.jail import zygote
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.readiness import PROBE, judge
from sandbox.walls.limits import Limits
from sandbox.watch.outcome import Outcome
from sandbox.watch.request import request_for
from sandbox.wire import WireError, hand_over, pack_json, read_frame

NAME = "jail"
_WARM_UP_S = 120.0
_TRIES = 3


class Zygote:
    """One warm parent process, and how many runs it has in hand."""

    def __init__(self, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self.process = process
        self.channel = channel
        self.served = 0
        self.active = 0
        self.retired = False

    @classmethod
    async def start(cls, entry: str) -> Zygote:
        """Start one and wait until it is warm; raises `WireError` with the reason if it is not."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # -P: a script's or launcher's working directory must not shadow modules.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "sandbox.jail.zygote"),
            *(str(theirs.fileno()), str(os.getpid()), entry),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**ENVIRONMENT, "PYTHONPATH": str(Path(sandbox.__file__).parents[1])},
        )
        theirs.close()
        started = cls(process, ours)
        try:
            await started._hear_ready()
        except BaseException:
            await started.end()
            raise
        return started

    async def _hear_ready(self) -> None:
        self.channel.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_WARM_UP_S):
                said = await loop.sock_recv(self.channel, 65536)
        except TimeoutError:
            raise WireError(f"the zygote did not get warm within {_WARM_UP_S:g} s") from None
        if not said:
            raise WireError("the zygote ended while it was starting")
        answer = json.loads(said)
        if "refused" in answer:
            wall, reason = answer["refused"]
            raise WireError(f"the wall {wall} could not be raised: {reason}")
        self.channel.setblocking(True)

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def run(self, request: dict[str, Any]) -> Outcome:
        """Ask for one run; raises `WireError` when the zygote or its watcher dies under it.

        Cancelling the awaiting task closes the connection, at which the watcher ends the run.
        """
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
        self.served += 1
        self.active += 1
        try:
            try:
                hand_over(self.channel, theirs)
            except OSError as error:
                raise WireError("the zygote has gone") from error
            writer.write(pack_json(request))
            await writer.drain()
            return Outcome.unpack(await read_frame(reader))
        except (ConnectionError, ValueError) as error:
            raise WireError(str(error)) from error
        finally:
            theirs.close()
            writer.close()
            self.active -= 1
            if self.retired and self.active == 0:
                self.channel.close()

    def retire(self) -> None:
        """End as soon as the runs in hand have ended."""
        self.retired = True
        if self.active == 0:
            self.channel.close()

    async def end(self) -> None:
        """End now, with all runs."""
        self.channel.close()
        if self.alive:
            self.process.kill()
        await self.process.wait()


class Jail:
    """Runs jobs in jails forked from a warm zygote, which it replaces when dead or worn."""

    abreast = None

    def __init__(
        self,
        *,
        allow_missing: frozenset[str] = frozenset(),
        runs_per_zygote: int = 200,
        entry: str = zygote.ENTRY,
    ) -> None:
        self._allow_missing = sorted(allow_missing)
        self._runs_per_zygote = runs_per_zygote
        self._entry = entry
        self._zygote: Zygote | None = None
        self._retired: list[Zygote] = []
        self._starting = asyncio.Lock()

    async def run(self, job: Job) -> RunResult:
        """Run one job; `unavailable` when no zygote can be had or a wall cannot be raised."""
        try:
            outcome = await self.outcome(job)
        except WireError as error:
            outcome = Outcome("unavailable", reason=str(error))
        return await asyncio.to_thread(run_result, job, outcome, NAME)

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Self]:
        """Nothing of its own: every run has fresh walls anyway, and they may go side by side."""
        yield self

    async def prepare(self) -> None:
        """A session needs nothing."""

    async def outcome(self, job: Job, *, probe: bool = False) -> Outcome:
        """Run a job, or the probe instead of it; raises `WireError` when nothing can run."""
        limits = Limits.of(job.time_limit_s, job.memory_mib, job.output_bytes)
        request = request_for(job, limits, self._allow_missing, probe=probe)
        for _ in range(_TRIES - 1):
            zygote_ = await self._warm()
            with contextlib.suppress(WireError):
                return await zygote_.run(request)
            # It or the run's watcher was killed, by the kernel or a person. Its keeper may not
            # know yet, so it is asked for nothing more: a fresh one gets another try.
            self._leave(zygote_)
        return await (await self._warm()).run(request)

    def _leave(self, left: Zygote) -> None:
        """Ask this zygote for no further run; those that it has in hand go on."""
        if self._zygote is left:
            self._zygote = None
            self._retire(left)

    def _retire(self, old: Zygote) -> None:
        old.retire()
        self._retired = [each for each in self._retired if each.alive] + [old]

    async def _warm(self) -> Zygote:
        async with self._starting:
            current = self._zygote
            if current is not None and current.served >= self._runs_per_zygote:
                self._retire(current)
                current = None
            if current is None or not current.alive:
                self._zygote = None
                current = self._zygote = await Zygote.start(self._entry)
            return current

    async def readiness(self) -> Readiness:
        """Raise every wall around a real process and have it look at them from within."""
        try:
            outcome = await self.outcome(PROBE, probe=True)
        except WireError as error:
            return Readiness(ready=False, backend=NAME, reason=str(error))
        return judge(outcome, NAME, self._allow_missing)

    async def close(self) -> None:
        current, self._zygote = self._zygote, None
        for each in [*self._retired, *([current] if current else [])]:
            await each.end()
