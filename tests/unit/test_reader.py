"""The worker pool: warm, bounded, and whole again after every limit."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from pebble.pool.process import PoolManager

from analyzers.reading import read
from analyzers.source.project import Project
from app.request.reader import Reader, ReaderUnavailable, ReadingLimit


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    pool = Reader(workers=1)
    yield pool
    await pool.close()


def loop_forever() -> None:
    while True:
        pass


def eat_memory() -> int:
    return len(bytearray(8 * 1024**3))


def recurse(depth: int = 0) -> int:
    return recurse(depth + 1)


def has_torch() -> bool:
    return "torch" in sys.modules


def fail() -> None:
    raise LookupError("mine")


async def test_reads_a_project(reader: Reader) -> None:
    project = Project({"train.py": "loss = model(x)\nloss.backward()\nloss.backward()\n"})
    reading = await reader.call(read, project, timeout=10)
    assert [type(e).__name__ for e in reading.evidence] == ["GraphReuse"]


@pytest.mark.parametrize(
    ("function", "says"),
    [(loop_forever, "longer than"), (eat_memory, "memory"), (recurse, "nested too deeply")],
)
async def test_a_limit_is_reported_and_the_next_call_works(reader: Reader, function, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ReadingLimit, match=says):
        await reader.call(function, timeout=1)
    assert await reader.call(len, "abc", timeout=10) == 3


async def test_own_errors_pass_through(reader: Reader) -> None:
    with pytest.raises(LookupError, match="mine"):
        await reader.call(fail, timeout=10)


async def test_workers_are_warm_and_without_torch(reader: Reader) -> None:
    await reader.warm_up()
    assert not await reader.call(has_torch, timeout=10)
    started = time.perf_counter()
    for _ in range(20):
        await reader.call(len, "abc", timeout=10)
    print(f"{(time.perf_counter() - started) / 20 * 1000:.2f} ms a call")


async def test_workers_ended_from_outside_are_replaced(reader: Reader) -> None:
    for _ in range(2):
        worker = await reader.call(os.getpid, timeout=10)
        os.kill(worker, signal.SIGKILL)
        assert await reader.call(os.getpid, timeout=10) != worker


def import_what_is_broken() -> None:
    raise NameError("name 'Plase' is not defined")


def import_when_there(path: str) -> None:
    if not os.path.exists(path):
        raise ImportError("half written")


async def test_what_cannot_be_imported_is_named_and_takes_nothing_down() -> None:
    broken = Reader(workers=1, prepare=import_what_is_broken)
    for _ in range(3):
        with pytest.raises(ReaderUnavailable, match=r"NameError: .*Plase.*test_reader\.py, line"):
            await broken.call(len, "abc", timeout=10)
    await broken.close()


async def test_what_imports_later_is_used_from_then_on(tmp_path: Path) -> None:
    mended = tmp_path / "mended"
    pool = Reader(workers=1, prepare=partial(import_when_there, str(mended)))
    with pytest.raises(ReaderUnavailable, match="half written"):
        await pool.warm_up()
    mended.touch()
    assert await pool.call(len, "abc", timeout=10) == 3
    await pool.close()


async def test_workers_are_started_next_to_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean interpreter takes a while to start: at first, and again when all have ended."""
    started_by: list[int] = []
    start = PoolManager.start

    def noted(manager: PoolManager) -> None:
        started_by.append(threading.get_ident())
        start(manager)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(PoolManager, "start", noted)
    pool = Reader(workers=1)
    await pool.warm_up()
    pool._pool.stop()  # type: ignore[no-untyped-call]
    assert await pool.call(len, "abc", timeout=10) == 3
    await pool.close()
    assert len(started_by) == 2
    assert threading.get_ident() not in started_by
