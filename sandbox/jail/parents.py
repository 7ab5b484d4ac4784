"""Manage the warm parents of a jail from the launcher: processes from which runs are forked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import sandbox
from sandbox.environment import ENVIRONMENT
from sandbox.watch.outcome import ProcessOutcome
from sandbox.wire import WireError, hand_over, pack_json, read_frame

_WARM_UP_S = 120.0
_IDLE_S = 900.0


class Zygote:
    """One warm parent process, and how many runs it has in hand."""

    def __init__(self, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self.process = process
        self.channel = channel
        self.served = 0
        self.active = 0
        self.retired = False

    @classmethod
    async def start(cls, entry: str, group: str | None = None) -> Zygote:
        """Start one and wait until it is warm; raises `WireError` with the reason if it is not.

        It also imports the packages of this group of `sandbox.preload`.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # -P: a script's or launcher's working directory must not shadow modules.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "sandbox.jail.zygote"),
            *(str(theirs.fileno()), str(os.getpid()), entry, *([group] if group else [])),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # Ctrl-C is for the launcher, which ends it
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

    async def run(self, request: dict[str, Any]) -> ProcessOutcome:
        """Request one run. Raises `WireError` if the zygote or its watcher dies meanwhile.

        Cancelling the awaiting task closes the connection, upon which the watcher ends the run.
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
            return ProcessOutcome.unpack(await read_frame(reader))
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


class Parent:
    """The current zygote of one kind; replaced when it is dead, or has served `runs` runs."""

    def __init__(self, entry: str, runs: int, group: str | None = None) -> None:
        self._entry = entry
        self._runs = runs
        self._group = group
        self._zygote: Zygote | None = None
        self._retired: list[Zygote] = []
        self._starting = asyncio.Lock()
        self._start: asyncio.Task[Zygote] | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def warm(self) -> Zygote:
        """Return a zygote that serves runs; start one where there is none."""
        async with self._starting:
            current = self._zygote
            if current is not None and current.served >= self._runs:
                self._retire(current)
                current = None
            if current is None or not current.alive:
                self._zygote = None
                current = await Zygote.start(self._entry, self._group)
                self._zygote = current
            return current

    def ready(self) -> Zygote | None:
        """Return the zygote if it is warm; else start one in the background, and return None.

        One of a group ends once nobody has asked for it in a while: it holds much memory.
        """
        if self._group is not None:
            self._stop_waiting()
            self._idle = asyncio.get_running_loop().call_later(_IDLE_S, self._end_idle)
        current = self._zygote
        if current is not None and current.alive and current.served < self._runs:
            return current
        if self._start is None or self._start.done():
            self._start = asyncio.create_task(self.warm())
            self._start.add_done_callback(_heard)
        return None

    def leave(self, left: Zygote) -> None:
        """Request no further run from this zygote; its current runs go on."""
        if self._zygote is left:
            self._zygote = None
            self._retire(left)

    def _end_idle(self) -> None:
        if self._zygote is not None:
            self.leave(self._zygote)

    def _stop_waiting(self) -> None:
        if self._idle is not None:
            self._idle.cancel()

    def _retire(self, old: Zygote) -> None:
        old.retire()
        self._retired = [each for each in self._retired if each.alive] + [old]

    async def close(self) -> None:
        """End every zygote, with all runs."""
        self._stop_waiting()
        if self._start is not None:
            self._start.cancel()
            with contextlib.suppress(asyncio.CancelledError, WireError):
                await self._start
        current, self._zygote = self._zygote, None
        for each in [*self._retired, *([current] if current else [])]:
            await each.end()


def _heard(started: asyncio.Task[Zygote]) -> None:
    """Take note of a failed start: runs go on without it, and the next one tries again."""
    if not started.cancelled():
        started.exception()
