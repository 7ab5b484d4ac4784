"""Many who ask at once whether the launcher is ready cost one look at the walls."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from sandbox.launcher import server as launcher
from sandbox.launcher.server import LauncherServer
from sandbox.protocol import Job, Readiness, RunResult
from sandbox.wire import pack_json, read_json


class Counted:
    """A backend that counts how often its walls were looked at."""

    abreast = None

    def __init__(self, *, ready: bool) -> None:
        self._ready = ready
        self.looks = 0

    async def readiness(self) -> Readiness:
        self.looks += 1
        await asyncio.sleep(0.01)
        return Readiness(ready=self._ready, backend="counted")

    async def run(self, job: Job) -> RunResult:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def session(self) -> AsyncIterator[Counted]:
        yield self

    async def prepare(self) -> None: ...

    async def close(self) -> None: ...


async def _asked(server: LauncherServer) -> bool:
    """One client's question, over a socket as in the launcher."""
    ours, theirs = socket.socketpair()
    served = asyncio.create_task(server.serve(*await asyncio.open_connection(sock=theirs)))
    reader, writer = await asyncio.open_connection(sock=ours)
    writer.write(pack_json({"ask": "readiness"}))
    answer = Readiness.model_validate(await read_json(reader))
    writer.close()
    await served
    return answer.ready


@pytest.mark.asyncio
async def test_all_who_ask_at_once_share_one_look() -> None:
    backend = Counted(ready=True)
    server = LauncherServer(backend, slots=1, sessions=1, queue=1)
    assert all(await asyncio.gather(*(_asked(server) for _ in range(80))))
    assert backend.looks == 1


@pytest.mark.asyncio
async def test_a_look_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_FRESH_S", -1.0)
    backend = Counted(ready=True)
    server = LauncherServer(backend, slots=1, sessions=1, queue=1)
    await _asked(server)
    await _asked(server)
    assert backend.looks == 2


@pytest.mark.asyncio
async def test_what_was_not_ready_is_looked_at_again() -> None:
    backend = Counted(ready=False)
    server = LauncherServer(backend, slots=1, sessions=1, queue=1)
    assert not await _asked(server)
    assert not await _asked(server)
    assert backend.looks == 2
