"""Hostile source is read in bounded worker processes: time, memory and depth all have an end."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import resource
import sys
from collections.abc import Callable
from concurrent.futures import CancelledError, TimeoutError
from typing import ParamSpec, TypeVar

from pebble import ProcessExpired, ProcessPool

P = ParamSpec("P")
T = TypeVar("T")

MEMORY_BYTES = 1024 * 1024 * 1024
RECURSION_DEPTH = 3000
CALLS_PER_WORKER = 500


class ReadingLimit(RuntimeError):
    """A reading used up its time, memory or depth; the message says which."""


class Reader:
    """A few warm workers. A worker that meets a limit is replaced; the others go on.

    `memory_bytes` bounds each worker's address space. Workers start from a clean interpreter, so
    they are safe beside a running event loop, and hold nothing of the server's.
    """

    def __init__(self, workers: int = 2, memory_bytes: int = MEMORY_BYTES) -> None:
        self._pool = ProcessPool(
            max_workers=workers,
            max_tasks=CALLS_PER_WORKER,
            initializer=_limit_and_warm_up,
            initargs=(memory_bytes,),
            context=multiprocessing.get_context("forkserver"),
        )

    async def call(
        self,
        function: Callable[..., T],
        *args: object,
        timeout: float,  # noqa: ASYNC109
    ) -> T:
        """Run `function(*args)` in a worker; both must pickle. `timeout` is in seconds and counts
        from the moment a worker takes the call.

        Raises `ReadingLimit` when a limit was met, and whatever the function raises.
        """
        future = self._pool.schedule(function, args=args, timeout=timeout)
        try:
            return await asyncio.wrap_future(future)
        except TimeoutError:
            raise ReadingLimit(f"reading took longer than {timeout:g} s") from None
        except MemoryError:
            raise ReadingLimit("reading needed too much memory") from None
        except RecursionError:
            raise ReadingLimit("the source is nested too deeply") from None
        except ProcessExpired as error:
            raise ReadingLimit(f"reading ended its worker ({error})") from None
        except CancelledError:
            raise asyncio.CancelledError from None

    async def warm_up(self) -> None:
        """Start a worker now rather than at the first request."""
        await self.call(len, (), timeout=60.0)

    async def close(self) -> None:
        """Stop the workers; calls under way are ended."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        await asyncio.to_thread(self._pool.join)


def _limit_and_warm_up(memory_bytes: int) -> None:
    """Runs in each worker before its first call."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    sys.setrecursionlimit(RECURSION_DEPTH)
    import analyzers.notebook
    import analyzers.pattern
    import analyzers.reading
    import analyzers.tracebacks

    analyzers.pattern.patterns()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)  # a reading makes many objects that live until its end
