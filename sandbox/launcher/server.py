"""Serving runs: one request a connection, so many at once, so many waiting, no more."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from pydantic import ValidationError

from sandbox.protocol import Job, RunResult, Sandbox
from sandbox.wire import WireError, pack_json, read_json


class Server:
    """Answers `{"ask": "run", "job": …}` with a `RunResult`, `{"ask": "readiness"}` in kind.

    A client that goes away ends its run.
    """

    def __init__(self, backend: Sandbox, *, slots: int, queue: int) -> None:
        self._backend = backend
        self._slots = asyncio.Semaphore(slots)
        self._room = slots + queue
        self._held = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        try:
            request = await read_json(reader)
            answer = await _unless_gone(self._answer(request), reader)
            if answer is not None:
                writer.write(pack_json(answer))
                await writer.drain()
        except (WireError, ConnectionError):
            pass  # nobody is left to be told
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, request: Any) -> dict[str, Any]:
        match request:
            case {"ask": "readiness"}:
                return (await self._backend.readiness()).model_dump()
            case {"ask": "run", "job": job}:
                return (await self._run(job)).model_dump()
        return {"error": "ask for a run or for readiness"}

    async def _run(self, fields: Any) -> RunResult:
        try:
            job = Job.model_validate(fields)
        except ValidationError as error:
            return RunResult(status="unavailable", reason=f"not a job: {error}")
        if self._held >= self._room:
            return RunResult(status="unavailable", reason="busy: too many runs are waiting")
        self._held += 1
        try:
            async with self._slots:
                return await self._backend.run(job)
        finally:
            self._held -= 1


async def _unless_gone(work: Any, reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The result of `work`, or None, with `work` cancelled, when the client goes first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
