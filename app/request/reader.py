"""Hostile source is read in bounded worker processes: time, memory and depth all have an end."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from typing import Literal, TypeVar

from pebble import ProcessExpired, ProcessPool

T = TypeVar("T")

MEMORY_BYTES = 1024 * 1024 * 1024
RECURSION_DEPTH = 3000
CALLS_PER_WORKER = 500

log = logging.getLogger(__name__)


class ReadingLimit(RuntimeError):
    """A reading used up its time, memory or depth; the message says which."""


class ReaderUnavailable(RuntimeError):
    """Nothing can be read: the analyzers do not import; the message says which file and why."""


class Reader:
    """A pool of a few warm workers. A worker that exceeds a limit is replaced; the others go on.

    `memory_bytes` bounds each worker's address space. Workers start from a clean interpreter, so
    they are safe next to a running event loop, and hold nothing of the server's; with
    `context="fork"` they start at once, as copies of a process that does nothing else. `prepare`
    runs in a worker before its first call.
    """

    def __init__(
        self,
        workers: int = 2,
        memory_bytes: int = MEMORY_BYTES,
        prepare: Callable[[], None] | None = None,
        context: Literal["forkserver", "fork"] = "forkserver",
    ) -> None:
        self._workers = workers
        self._memory_bytes = memory_bytes
        self._prepare = prepare or import_analyzers
        self._context = context
        self._pool = self._new_pool()
        self._started: ProcessPool | None = None
        self._launch: asyncio.Task[bool] | None = None
        self._starting = asyncio.Lock()

    async def call(
        self,
        function: Callable[..., T],
        *args: object,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        """Run `function(*args)` in a worker; both must pickle. `timeout` is in seconds and counts
        from the moment a worker takes the call.

        Raises `ReadingLimit` when a limit was met, `ReaderUnavailable` when no worker can be made
        ready, and whatever the function raises.
        """
        try:
            try:
                return await self._answered(function, args, timeout)
            except BrokenProcessPool:  # a worker was ended from outside; nothing of ours ran
                return await self._answered(function, args, timeout)
        except TimeoutError:
            raise ReadingLimit(f"reading took longer than {timeout:g} s") from None
        except MemoryError:
            raise ReadingLimit("reading needed too much memory") from None
        except RecursionError:
            raise ReadingLimit("the source is nested too deeply") from None
        except ProcessExpired as error:
            raise ReadingLimit(f"reading ended its worker ({error})") from None
        except BrokenProcessPool as error:
            raise ReaderUnavailable(f"the reader's workers ended ({error})") from None
        except CancelledError:
            raise asyncio.CancelledError from None

    async def warm_up(self) -> None:
        """Start a worker now rather than at the first request."""
        await self.call(len, (), timeout=60.0)

    async def close(self) -> None:
        """Stop the workers; calls under way are ended."""
        if self._launch is not None:
            await asyncio.gather(self._launch, return_exceptions=True)
        self._pool.stop()  # type: ignore[no-untyped-call]
        await asyncio.to_thread(self._pool.join)

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self._workers,
            max_tasks=CALLS_PER_WORKER,
            initializer=_start,
            initargs=(self._memory_bytes, self._prepare),
            context=multiprocessing.get_context(self._context),
        )

    async def _answered(
        self,
        function: Callable[..., T],
        args: tuple[object, ...],
        limit_s: float,
    ) -> T:
        """Return what a worker answers."""
        async with self._starting:
            await self._start()
        future: Future[T] = self._pool.schedule(_answer, args=(function, *args), timeout=limit_s)
        return await asyncio.wrap_future(future)

    async def _start(self) -> None:
        """Start the pool, or a new one where it has broken: in a thread, since it takes a clean
        interpreter a while. A fork is made here, where nobody waits for the loop: it would copy
        no thread but the one that makes it."""
        if self._started is self._pool and not self._pool.active:
            log.error("the reader's workers ended: starting new ones")
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool = self._new_pool()
        if self._started is not self._pool:
            self._launch = asyncio.create_task(self._launched(self._pool))
            await asyncio.shield(self._launch)
            self._started = self._pool

    async def _launched(self, pool: ProcessPool) -> bool:
        if self._context == "fork":
            return pool.active
        return await asyncio.to_thread(lambda: pool.active)


class InlineReader(Reader):
    """The reader within a worker: it calls on the spot."""

    def __init__(self) -> None: ...

    async def call(
        self,
        function: Callable[..., T],
        *args: object,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        return function(*args)


_unprepared: Callable[[], None] | None = None


def _start(memory_bytes: int, prepare: Callable[[], None]) -> None:
    """Prepare a worker, in its process, before its first call.

    An error here would end the whole pool, so a worker that cannot be prepared stays, and reports
    why to its caller.
    """
    global _unprepared
    signal.set_wakeup_fd(-1)  # a copy would wake its parent's event loop with its own signals
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    sys.setrecursionlimit(RECURSION_DEPTH)
    _unprepared = prepare
    try:
        _make_ready()
    except ReaderUnavailable as error:
        log.error("%s", error)


def _make_ready() -> None:
    global _unprepared
    if _unprepared is None:
        return
    try:
        _unprepared()
    except Exception as error:
        raised_at = traceback.extract_tb(error.__traceback__)[-1]
        raise ReaderUnavailable(
            f"the analyzers do not import: {type(error).__name__}: {error}"
            f" ({raised_at.filename}, line {raised_at.lineno})"
        ) from None
    _unprepared = None


def _answer(function: Callable[..., T], *args: object) -> T:
    """Execute one call, in a worker."""
    _make_ready()
    return function(*args)


def import_analyzers() -> None:
    """Import all that calls may need, for a worker that takes many."""
    import analyzers.explain.pattern
    import analyzers.request.examine
    import analyzers.request.explaining

    analyzers.explain.pattern.patterns()
    collect_rarely()


def collect_rarely() -> None:
    """Let the collector leave alone what was imported."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)  # a reading makes many objects that live until its end
