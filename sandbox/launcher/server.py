"""Serve runs and sessions: one request per connection, with limits on running and waiting ones."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sandbox.launcher.backend import Backend, Prepared
from sandbox.launcher.gate import BusyError, Gate
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.wire import WireError, pack, pack_json, read_json

_FRESH_S = 3.0


@dataclass(frozen=True)
class ClientSession:
    """A session that a client holds, and the runs of it that are under way."""

    session: Prepared
    gate: Gate


class LauncherServer:
    """Answers requests of clients. One that goes away ends its run, or its session.

    `{"ask": "readiness"}` is answered with a `Readiness`;
    `{"ask": "session"}` with `{"session": NAME}`, which lasts for as long as the connection does;
    `{"ask": "run", "job": …}` with a `RunResult`. With `"session": NAME` it is a run of that one;
    where this launcher knows of none, it runs alone.
    """

    def __init__(self, backend: Backend, *, slots: int, sessions: int, queue: int) -> None:
        self._backend = backend
        self._abreast = backend.abreast or slots
        self._queue = queue
        self._runs = Gate("runs", places=slots, queue=queue)
        self._sessions = Gate("sessions", places=sessions, queue=queue)
        self._lanes: dict[str, ClientSession] = {}
        self._probing = asyncio.Lock()
        self._probed = -_FRESH_S
        self._seen = Readiness(ready=False, backend="")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        try:
            request = await read_json(reader)
            await _unless_gone(self._answer(request, writer), reader)
        except (WireError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request: Any, writer: asyncio.StreamWriter) -> None:
        match request:
            case {"ask": "readiness"}:
                await _say(writer, (await self._readiness()).model_dump())
            case {"ask": "session"}:
                await self._hold(writer)
            case {"ask": "run", "job": job}:
                lane = self._lanes.get(str(request.get("session")))
                result = await self._run(job, lane)
                writer.write(pack((await asyncio.to_thread(result.model_dump_json)).encode()))
                await writer.drain()
            case _:
                await _say(writer, {"error": "ask for a run, a session or readiness"})

    async def _readiness(self) -> Readiness:
        """Return the last probe's result if it is fresh and good; concurrent callers share one
        probe.
        """
        async with self._probing:
            if time.monotonic() > self._probed + _FRESH_S:
                self._seen = await self._backend.readiness()
                if self._seen.ready:
                    self._probed = time.monotonic()
            return self._seen

    async def _hold(self, writer: asyncio.StreamWriter) -> None:
        """Hold a session until its client disconnects, upon which this is cancelled."""
        try:
            async with self._sessions.passing(), self._lane() as name:
                await _say(writer, {"session": name})
                await asyncio.Event().wait()
        except BusyError as error:
            await _say(writer, {"error": str(error)})

    @contextlib.asynccontextmanager
    async def _lane(self) -> AsyncIterator[str]:
        name = secrets.token_hex(16)
        async with self._backend.session() as session:
            gate = Gate("runs of one session", places=self._abreast, queue=self._queue)
            self._lanes[name] = ClientSession(session, gate)
            try:
                yield name
            finally:
                del self._lanes[name]

    async def _run(self, fields: Any, lane: ClientSession | None) -> RunResult:
        try:
            job = Job.model_validate(fields)
        except ValidationError as error:
            return RunResult(status="unavailable", reason=f"not a job: {error}")
        try:
            if lane is not None:
                return await self._run_in(lane, job)
            async with self._runs.passing():
                return await self._backend.run(job)
        except BusyError as error:
            return RunResult(status="unavailable", reason=str(error))

    async def _run_in(self, lane: ClientSession, job: Job) -> RunResult:
        """Run a job of a session. It waits for its turn in the session and for its preparation
        before it takes one of the places for which all runs compete.
        """
        async with lane.gate.passing():
            await lane.session.prepare()
            async with self._runs.passing():
                return await lane.session.run(job)


async def _say(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    writer.write(pack_json(answer))
    await writer.drain()


async def _unless_gone(work: Coroutine[Any, Any, None], reader: asyncio.StreamReader) -> None:
    """Do `work`; cancel it if the client disconnects first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
