"""Sessions with a launcher: how many there may be, who waits, and what ends them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.client import EmbeddedSandbox, LauncherClient
from sandbox.protocol import Job, Session
from sandbox.wire import pack_json, read_json
from tests.integration.test_sandbox_deaths import SLEEP, named, until

HELLO = Job(files={"train.py": "print('hello')"}, mode="plain")


def sleeping(name: str) -> Job:
    return Job(files={"train.py": SLEEP.format(name=name)}, mode="plain", time_limit_s=60)


async def answer(box: EmbeddedSandbox, what: object) -> Any:
    """What the launcher answers to a request as it stands."""
    reader, writer = await box.connect()
    writer.write(pack_json(what))
    try:
        return await read_json(reader)
    finally:
        writer.close()


async def hello(session: Session) -> str:
    return (await session.run(HELLO)).stdout_tail


@pytest.mark.rotating(4)
async def test_runs_of_a_session_go_side_by_side_in_jails() -> None:
    async with EmbeddedSandbox(options=["--concurrency", "2"]) as box, box.session() as session:
        runs = [asyncio.create_task(session.run(sleeping("gm-beside"))) for _ in range(2)]
        await until(lambda: len(named("gm-beside")) == 2)
        runs[0].cancel()
        await until(lambda: len(named("gm-beside")) == 1)
        assert await hello(session) == "hello\n"
        runs[1].cancel()


async def test_nothing_is_started_for_a_session_that_runs_nothing() -> None:
    async with EmbeddedSandbox() as box, box.session():
        assert box.launcher_pid is None


@pytest.mark.rotating(4)
async def test_a_session_waits_until_there_is_a_place() -> None:
    async with EmbeddedSandbox(options=["--sessions", "1"]) as box, box.session() as second:
        async with box.session() as first:
            assert await hello(first) == "hello\n"
            waiting = asyncio.create_task(second.run(sleeping("gm-waits")))
            # Runs that belong to no session need no such place.
            assert await hello(box) == await hello(first) == "hello\n"
            assert not named("gm-waits")
        await until(lambda: named("gm-waits"))
        waiting.cancel()


@pytest.mark.rotating(4)
async def test_where_too_many_sessions_wait_runs_go_by_themselves() -> None:
    options = ["--sessions", "1", "--queue", "0"]
    async with EmbeddedSandbox(options=options) as box, box.session() as first:
        assert await hello(first) == "hello\n"
        assert "too many sessions" in (await answer(box, {"ask": "session"}))["error"]
        async with box.session() as second:
            assert await hello(second) == "hello\n"


@pytest.mark.rotating(4)
async def test_a_session_outlives_its_launcher() -> None:
    async with EmbeddedSandbox() as box, box.session() as session:
        assert await hello(session) == "hello\n"
        assert box.launcher_pid is not None
        os.kill(box.launcher_pid, signal.SIGKILL)
        assert await hello(session) == "hello\n"
        running = asyncio.create_task(session.run(sleeping("gm-outlives")))
        await until(lambda: named("gm-outlives"))
        os.kill(box.launcher_pid, signal.SIGKILL)
        running.cancel()
        assert await hello(session) == "hello\n"


HOLDER = """
import asyncio, sys
from sandbox.client import LauncherClient
from sandbox.protocol import Job

async def main():
    async with LauncherClient(sys.argv[1]).session() as session:
        result = await session.run(Job(files={"train.py": ""}, mode="plain"))
        print(result.status, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.rotating(4)
async def test_a_client_that_is_killed_releases_its_session(tmp_path: Path) -> None:
    path = tmp_path / "launcher.sock"
    command = [sys.executable, "-m", "sandbox.launcher", "--socket", str(path), "--sessions", "1"]
    launcher = await asyncio.create_subprocess_exec(*command)
    try:
        await until(path.exists)
        holder = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOLDER, str(path)), stdout=asyncio.subprocess.PIPE
        )
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"finished\n"
        async with LauncherClient(path).session() as session:
            waiting = asyncio.create_task(hello(session))
            done, _ = await asyncio.wait({waiting}, timeout=0.5)
            assert not done
            holder.kill()
            await holder.wait()
            assert await waiting == "hello\n"
    finally:
        launcher.terminate()
        await launcher.wait()


@pytest.mark.parametrize("what", [{"ask": "anything"}, {"ask": "run"}, [], None, "session"])
async def test_what_is_no_request_is_said(what: object) -> None:
    async with EmbeddedSandbox() as box:
        assert (await answer(box, what))["error"].startswith("ask for a run")
