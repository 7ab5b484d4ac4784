"""Containers waiting for a job: started ahead, used once, replaced in the background."""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from typing import Any

from sandbox.container.engine import Engine, EngineError, Shape
from sandbox.watch.outcome import Outcome
from sandbox.wire import WireError, pack_json, read_frame

_WARM_UP_S = 180.0
_STREAM_HEADER = struct.Struct(">BxxxI")
_STDOUT = 1
_KEPT_STDERR = 4096


class Guest:
    """One container that is warm and waits on its standard input."""

    def __init__(self, engine: Engine, name: str, streams: Any) -> None:
        self.name = name
        self._engine = engine
        self._reader, self._writer = streams
        self._said = asyncio.StreamReader(limit=1 << 20)
        self._complaints = bytearray()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, engine: Engine, shape: Shape) -> Guest:
        """Start a container and wait until it is warm; raises `WireError` if it will not be."""
        try:
            name, handle = await asyncio.to_thread(engine.start, shape)
        except EngineError as error:
            raise WireError(f"no container could be started: {error}") from error
        guest = cls(engine, name, await asyncio.open_connection(sock=handle))
        try:
            async with asyncio.timeout(_WARM_UP_S):
                answer = json.loads(await read_frame(guest._said))
        except BaseException as error:
            await guest.remove()
            if isinstance(error, WireError):
                complaint = guest._complaints.decode("utf-8", "replace").strip()
                raise WireError(f"the container ended while starting: {complaint}") from error
            raise
        if "refused" in answer:
            await guest.remove()
            wall, reason = answer["refused"]
            raise WireError(f"the wall {wall} could not be raised: {reason}")
        return guest

    @property
    def waiting(self) -> bool:
        return not self._listening.done()

    async def run(self, request: dict[str, Any]) -> Outcome:
        """Its one run; raises `WireError` when the container goes away instead of answering."""
        try:
            self._writer.write(pack_json(request))
            await self._writer.drain()
            return Outcome.unpack(await read_frame(self._said))
        except (ConnectionError, ValueError) as error:
            raise WireError(str(error)) from error

    async def remove(self) -> None:
        self._listening.cancel()
        self._writer.close()
        await asyncio.to_thread(self._engine.remove, self.name)

    async def _listen(self) -> None:
        """Sort the engine's mixture of the two output streams."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                header = await self._reader.readexactly(_STREAM_HEADER.size)
                stream, length = _STREAM_HEADER.unpack(header)
                data = await self._reader.readexactly(length)
                if stream == _STDOUT:
                    self._said.feed_data(data)
                else:
                    self._complaints = (self._complaints + data)[-_KEPT_STDERR:]
        self._said.feed_eof()


class Guesthouse:
    """Keeps `ready` guests waiting."""

    def __init__(self, engine: Engine, shape: Shape, ready: int) -> None:
        self._engine = engine
        self._shape = shape
        self._ready = ready
        self._waiting: list[Guest] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Semaphore(2)
        self._closed = False

    async def take(self) -> Guest:
        """A guest that waits, or a new one; another is started in its place."""
        guest: Guest | None = None
        while self._waiting and guest is None:
            candidate = self._waiting.pop(0)
            if candidate.waiting:
                guest = candidate
            else:
                self.leave(candidate)
        if guest is None:
            guest = await self._start()
        self._refill()
        return guest

    def leave(self, guest: Guest) -> None:
        """Remove a guest in the background; nobody waits for that."""
        self._background(guest.remove())

    async def close(self) -> None:
        """Remove all guests."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*[guest.remove() for guest in self._waiting])
        await asyncio.to_thread(self._engine.sweep, self._shape.owner)

    async def _start(self) -> Guest:
        async with self._starting:
            return await Guest.start(self._engine, self._shape)

    def _refill(self) -> None:
        if len(self._waiting) < self._ready and not self._closed:
            self._background(self._add())

    async def _add(self) -> None:
        try:
            guest = await self._start()
        except (WireError, TimeoutError):
            return  # the next run asks again, and then says why
        self._waiting.append(guest)
        self._refill()

    def _background(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
