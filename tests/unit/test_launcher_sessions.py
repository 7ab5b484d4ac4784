"""A run goes into the session that its client holds, prepared, when it is its turn there."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

from sandbox.launcher.server import LauncherServer
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.wire import pack_json, read_json

JOB = Job(files={"train.py": ""}).model_dump(mode="json", exclude_defaults=True)


class NotingBackend:
    """A backend, and its one session, that note what is asked of them."""

    abreast = 1

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.at_once = self.most = 0

    async def readiness(self) -> Readiness:
        raise NotImplementedError

    async def run(self, job: Job) -> RunResult:
        self.asked.append("run by itself")
        return RunResult(status="finished")

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Held]:
        yield Held(self)

    async def close(self) -> None: ...


class Held:
    def __init__(self, backend: NotingBackend) -> None:
        self._backend = backend

    async def prepare(self) -> None:
        self._backend.asked.append("prepare")

    async def run(self, job: Job) -> RunResult:
        self._backend.asked.append("run")
        self._backend.at_once += 1
        self._backend.most = max(self._backend.most, self._backend.at_once)
        await asyncio.sleep(0.01)
        self._backend.at_once -= 1
        return RunResult(status="finished")


@contextlib.asynccontextmanager
async def asking(server: LauncherServer, **request: Any) -> AsyncIterator[Any]:
    """The answer to a client's request; the client stays until the end."""
    ours, theirs = socket.socketpair()
    served = asyncio.create_task(server.serve(*await asyncio.open_connection(sock=theirs)))
    reader, writer = await asyncio.open_connection(sock=ours)
    writer.write(pack_json(request))
    try:
        yield await read_json(reader)
    finally:
        writer.close()
        await served


async def ran(server: LauncherServer, session: str) -> str:
    async with asking(server, ask="run", job=JOB, session=session) as answer:
        return str(answer["status"])


async def test_runs_of_a_session_go_into_it_one_by_one() -> None:
    server = LauncherServer(backend := NotingBackend(), slots=2, sessions=1, queue=2)
    async with asking(server, ask="session") as held:
        runs = await asyncio.gather(*(ran(server, held["session"]) for _ in range(2)))
    assert runs == ["finished"] * 2
    assert backend.asked == ["prepare", "run"] * 2
    assert backend.most == 1


async def test_a_run_of_a_session_that_has_ended_goes_by_itself() -> None:
    server = LauncherServer(backend := NotingBackend(), slots=1, sessions=1, queue=1)
    async with asking(server, ask="session") as held:
        pass
    assert await ran(server, held["session"]) == "finished"
    assert backend.asked == ["run by itself"]
