"""Jobs in the serving process: a bounded queue, and as many at once as there are cores."""

from __future__ import annotations

import asyncio
from functools import partial

import structlog
from pydantic import BaseModel

from app.jobs.runner import Runner
from app.jobs.sweep import every
from app.jobs.worker_protocol import QueueFullError
from app.settings import Settings
from app.store import Key, Store

log = structlog.get_logger()


class EmbeddedJobs:
    """Works off the diagnoses of this process's store."""

    def __init__(self, store: Store, runner: Runner, settings: Settings) -> None:
        self._store = store
        self._runner = runner
        self._settings = settings
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._known: set[str] = set()  # queued or running here
        self._admitting = 0
        self._running: dict[str, asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self) -> None:
        await self._take_up()
        for _ in range(self._settings.workers):
            self._loops.append(asyncio.create_task(self._work()))
        self._loops.append(asyncio.create_task(every(self._settings.sweep_s, self._sweep)))

    async def submit(self, request: BaseModel, key: Key | None, sender: str | None = None) -> str:
        if self._queue.qsize() + self._admitting >= self._settings.queue_limit or self._stopping:
            raise QueueFullError
        self._admitting += 1
        try:
            diagnosis_id = await self._store.create(request, key, sender=sender)
            self._add(diagnosis_id)
            return diagnosis_id
        finally:
            self._admitting -= 1

    async def cancel(self, diagnosis_id: str) -> None:
        if task := self._running.get(diagnosis_id):
            task.cancel()

    async def waiting(self) -> int:
        return self._queue.qsize()

    async def stop(self) -> None:
        self._stopping = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        running = set(self._running.values())
        if running:
            await asyncio.wait(running, timeout=self._settings.shutdown_grace_s)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _add(self, diagnosis_id: str) -> None:
        if diagnosis_id not in self._known:
            self._known.add(diagnosis_id)
            self._queue.put_nowait(diagnosis_id)

    async def _take_up(self) -> None:
        """Queue what nobody works on: left by an earlier process, or by one that died."""
        for diagnosis_id in await self._store.unattended():
            self._add(diagnosis_id)

    async def _sweep(self) -> None:
        await self._take_up()
        await self._store.purge()

    async def _work(self) -> None:
        while True:
            diagnosis_id = await self._queue.get()
            task = asyncio.create_task(self._runner.run(diagnosis_id))
            self._running[diagnosis_id] = task
            task.add_done_callback(partial(self._ended, diagnosis_id))
            await asyncio.wait({task})  # unlike awaiting the task, leaves it alone when cancelled

    def _ended(self, diagnosis_id: str, task: asyncio.Task[None]) -> None:
        """Forget an ended run; where the store failed it, the next sweep takes it up again."""
        self._running.pop(diagnosis_id, None)
        self._known.discard(diagnosis_id)
        if not task.cancelled() and (error := task.exception()):
            log.error("run lost its store", diagnosis=diagnosis_id, error=type(error).__name__)
