"""Keep containers ready for sessions: started ahead, used for one, replaced in the background."""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from typing import Any

from sandbox.container.docker_engine import DockerEngine, EngineError, Shape
from sandbox.watch.outcome import ProcessOutcome
from sandbox.wire import WireError, pack_json, read_frame

_WARM_UP_S = 180.0
_TIDYING_S = 10.0
_STREAM_HEADER = struct.Struct(">BxxxI")
_STDOUT = 1
_KEPT_STDERR = 4096


class PooledContainer:
    """One container that is warm and waits on its standard input."""

    def __init__(self, engine: DockerEngine, name: str, streams: Any) -> None:
        self.name = name
        self._engine = engine
        self._reader, self._writer = streams
        self._said = asyncio.StreamReader(limit=1 << 20)
        self._complaints = bytearray()
        self._ready = True
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, engine: DockerEngine, shape: Shape) -> PooledContainer:
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

    async def run(self, request: dict[str, Any]) -> ProcessOutcome:
        """Run a job; raises `WireError` when the container goes away instead of answering."""
        self._ready = False
        try:
            self._writer.write(pack_json(request))
            await self._writer.drain()
            return ProcessOutcome.unpack(await read_frame(self._said))
        except (ConnectionError, ValueError) as error:
            raise WireError(str(error)) from error

    async def fit(self) -> bool:
        """Wait for the guest's answer, and return True if the container is as it was before its
        last run.

        If cancelled meanwhile, half an answer may be lost: do not use the guest again.
        """
        try:
            if not self._ready:
                async with asyncio.timeout(_TIDYING_S):
                    self._ready = "ready" in json.loads(await read_frame(self._said))
        except (WireError, ValueError, TimeoutError):
            return False
        return self._ready and self.waiting

    async def remove(self) -> None:
        self._listening.cancel()
        self._writer.close()
        # Where the engine has gone away, the container ends as its input does.
        with contextlib.suppress(*EngineError):
            await asyncio.to_thread(self._engine.remove, self.name)

    async def _listen(self) -> None:
        """Separate the two output streams, which the engine mixes."""
        try:
            while True:
                header = await self._reader.readexactly(_STREAM_HEADER.size)
                stream, length = _STREAM_HEADER.unpack(header)
                data = await self._reader.readexactly(length)
                if stream == _STDOUT:
                    self._said.feed_data(data)
                else:
                    self._complaints = (self._complaints + data)[-_KEPT_STDERR:]
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # it has ended
        finally:
            self._said.feed_eof()


class ContainerPool:
    """Keeps `ready` guests waiting."""

    def __init__(self, engine: DockerEngine, shape: Shape, ready: int) -> None:
        self._engine = engine
        self._shape = shape
        self._ready = ready
        self._waiting: asyncio.Queue[PooledContainer | Exception] = asyncio.Queue()
        self._coming = 0
        self._takers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Semaphore(2)

    async def take(self) -> PooledContainer:
        """Return the first guest that is warm, and start another in its place.

        Raises `WireError` or `TimeoutError` if none could be started.
        """
        self._takers += 1
        try:
            while True:
                self._refill()
                guest = await self._waiting.get()
                if isinstance(guest, Exception):
                    raise guest
                if guest.waiting:
                    return guest
                self.leave(guest)
        finally:
            self._takers -= 1
            self._refill()

    def leave(self, guest: PooledContainer) -> None:
        """Remove a guest in the background; nobody waits for that."""
        self._background(guest.remove())

    async def close(self) -> None:
        """Remove all guests."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while not self._waiting.empty():
            guest = self._waiting.get_nowait()
            if isinstance(guest, PooledContainer):
                await guest.remove()
        with contextlib.suppress(*EngineError):
            await asyncio.to_thread(self._engine.sweep, self._shape.owner)

    def _refill(self) -> None:
        """Start as many guests as are needed."""
        wanted = self._ready + self._takers
        for _ in range(wanted - self._waiting.qsize() - self._coming):
            self._coming += 1
            self._background(self._add())

    async def _add(self) -> None:
        """Start a guest, or report the failure to a waiting taker."""
        try:
            async with self._starting:
                guest: PooledContainer | Exception = await PooledContainer.start(
                    self._engine, self._shape
                )
        except (WireError, TimeoutError) as error:
            guest = error
        finally:
            self._coming -= 1
        if isinstance(guest, PooledContainer) or self._takers:
            self._waiting.put_nowait(guest)

    def _background(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
