"""Killing any part of the sandbox: nothing is left behind, and the next run works."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sandbox import client
from sandbox.client import EmbeddedSandbox, LauncherClient
from sandbox.protocol import Job, RunResult

HELLO = Job(files={"train.py": "print('hello')"}, mode="plain")
SLEEP = """
import ctypes, select
ctypes.CDLL(None).prctl(15, {name!r}.encode(), 0, 0, 0)
select.select([], [], [], 60)
"""


@pytest.fixture
async def box() -> AsyncIterator[EmbeddedSandbox]:
    async with EmbeddedSandbox() as embedded:
        assert (await embedded.readiness()).ready
        yield embedded


def parents() -> dict[int, int]:
    """Every process of this machine and its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = int(fields[1])
    return found


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, parents first."""
    above = parents()
    found, todo = [], [pid]
    while todo:
        current = todo.pop(0)
        children = [child for child, parent in above.items() if parent == current]
        found += children
        todo += children
    return found


def mounts() -> set[str]:
    """This machine's mounts, but for those that containers come and go with."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {line for line in lines if not re.search(r" - (overlay|nsfs) |/containers/", line)}


def named(name: str) -> list[int]:
    return [pid for pid in parents() if comm(pid) == name]


def comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that must come true soon; the test's own time limit bounds it."""
    while not condition():
        await asyncio.sleep(0.02)


async def gone(pids: list[int]) -> None:
    await until(lambda: not set(pids) & parents().keys())


async def sleeper(box: EmbeddedSandbox, name: str) -> asyncio.Task[object]:
    """A run that sleeps, begun; its process calls itself `name`."""
    job = Job(files={"train.py": SLEEP.format(name=name)}, mode="plain", time_limit_s=60)
    task: asyncio.Task[object] = asyncio.create_task(box.run(job))
    await until(lambda: named(name))
    return task


async def nap(box: EmbeddedSandbox, name: str) -> asyncio.Task[RunResult]:
    """A run that sleeps for a moment, begun; its process calls itself `name`."""
    source = SLEEP.format(name=name).replace("60", "2") + "print('awake')\n"
    job = Job(files={"train.py": source}, mode="plain", time_limit_s=60)
    task = asyncio.create_task(box.run(job))
    await until(lambda: named(name))
    return task


async def test_a_killed_launcher_takes_everything_along(box: EmbeddedSandbox) -> None:
    launcher = box.launcher_pid
    assert launcher is not None
    before = mounts()
    running = await sleeper(box, "gm-launcher")
    below = descendants(launcher)
    assert len(below) >= 4  # keeper, zygote, watcher, init, script
    os.kill(launcher, signal.SIGKILL)
    await gone(below)
    await until(lambda: named("gm-launcher"))  # the lost run is tried once more
    running.cancel()
    assert (await box.run(HELLO)).stdout_tail == "hello\n"
    assert box.launcher_pid != launcher
    await until(lambda: mounts() <= before)  # others of this machine may come and go meanwhile


@pytest.mark.rotating
async def test_a_run_lost_at_every_try_is_unavailable(
    box: EmbeddedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_PAUSES_S", (0.0, 0.0))
    running = await sleeper(box, "gm-again")
    for _ in range(2):
        assert box.launcher_pid is not None
        doomed = named("gm-again")
        os.kill(box.launcher_pid, signal.SIGKILL)
        await gone(doomed)
        await until(lambda: running.done() or named("gm-again"))
    result = await running
    assert getattr(result, "status", None) == "unavailable"
    assert "launcher" in getattr(result, "reason", "")


@pytest.mark.rotating
@pytest.mark.parametrize("depth", [0, 1], ids=["keeper", "zygote"])
async def test_a_killed_zygote_is_replaced(box: EmbeddedSandbox, depth: int) -> None:
    """And the run that it had in hand is made again."""
    assert box.launcher_pid is not None
    running = await nap(box, "gm-zygote")
    below = descendants(box.launcher_pid)
    os.kill(below[depth], signal.SIGKILL)
    await gone(below)
    assert (await running).stdout_tail == "awake\n"
    assert (await box.run(HELLO)).stdout_tail == "hello\n"


async def test_a_killed_run_harms_no_other(box: EmbeddedSandbox) -> None:
    assert box.launcher_pid is not None
    running = await sleeper(box, "gm-run")
    (script,) = named("gm-run")
    os.kill(script, signal.SIGKILL)
    result = await running
    assert getattr(result, "status", None) == "raised"
    assert getattr(result, "exit_code", None) == -signal.SIGKILL
    assert (await box.run(HELLO)).stdout_tail == "hello\n"


@pytest.mark.rotating
async def test_a_killed_watcher_takes_its_run_along(box: EmbeddedSandbox) -> None:
    running = await nap(box, "gm-watcher")
    (script,) = named("gm-watcher")
    watcher = parents()[parents()[script]]
    os.kill(watcher, signal.SIGKILL)
    await until(lambda: script not in named("gm-watcher"))
    assert (await running).stdout_tail == "awake\n"
    assert (await box.run(HELLO)).stdout_tail == "hello\n"


async def test_cancelling_ends_the_run(box: EmbeddedSandbox) -> None:
    running = await sleeper(box, "gm-cancel")
    running.cancel()
    await until(lambda: not named("gm-cancel"))
    assert (await box.run(HELLO)).stdout_tail == "hello\n"


@pytest.mark.rotating
async def test_closing_ends_the_launcher_and_its_runs() -> None:
    box = EmbeddedSandbox()
    running = await sleeper(box, "gm-close")
    assert box.launcher_pid is not None
    family = [box.launcher_pid, *descendants(box.launcher_pid)]
    await box.close()
    await gone(family)
    running.cancel()


OWNER = """
import asyncio, sys
from sandbox import client
from sandbox.client import EmbeddedSandbox

async def main():
    box = EmbeddedSandbox()
    await box.readiness()
    print(box.launcher_pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_killed_owner_leaves_no_launcher() -> None:
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OWNER), stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    launcher = int(await owner.stdout.readline())
    family = [launcher, *descendants(launcher)]
    owner.kill()
    await owner.wait()
    await gone(family)


@pytest.mark.rotating
async def test_a_launcher_at_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "launcher.sock"
    command = [sys.executable, "-m", "sandbox.launcher", "--socket", str(path)]
    launcher = await asyncio.create_subprocess_exec(*command)
    try:
        await until(path.exists)
        assert path.stat().st_mode & 0o777 == 0o600
        async with LauncherClient(path) as client:
            assert (await client.readiness()).ready
            assert (await client.run(HELLO)).stdout_tail == "hello\n"
    finally:
        launcher.terminate()
        await launcher.wait()
    assert launcher.returncode == 0
    assert not path.exists()
    async with LauncherClient(path) as client:
        assert (await client.run(HELLO)).status == "unavailable"
        assert not (await client.readiness()).ready
