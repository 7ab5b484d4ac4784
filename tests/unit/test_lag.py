"""A loop that is held up is seen, and the place is reported; one that only waits is not."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import selectors
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop

from sandbox import lag
from sandbox.lag import STUCK_S, LagWatch

Loops = Callable[[], asyncio.AbstractEventLoop]


class Late(selectors.DefaultSelector):
    """A crowded machine: whoever waits is woken late."""

    def select(self, timeout: float | None = None) -> Any:
        time.sleep(2 * STUCK_S)
        return super().select(timeout)


def late_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(Late())


def lags_while(act: Callable[[], Awaitable[None]], loops: Loops) -> list[float]:
    """What a watch reports while something goes on in the loop."""
    lags: list[float] = []

    async def watched() -> None:
        watching = asyncio.create_task(LagWatch(lags.append).run())
        await asyncio.sleep(0.2)
        await act()
        await asyncio.sleep(0.2)
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(watched())
    return lags


async def hold_up() -> None:
    until = time.thread_time() + 6 * STUCK_S  # of a processor's time, however crowded it is
    while time.thread_time() < until:
        pass


async def wait() -> None:
    await asyncio.sleep(STUCK_S)


@pytest.mark.parametrize("loops", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_held_loop_is_measured_and_its_place_logged(
    loops: Loops, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        lags = lags_while(hold_up, loops)
    assert max(lags) > STUCK_S
    assert "hold_up" in caplog.text


def test_a_loop_that_is_woken_late_is_measured_and_not_called_stuck(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        lags = lags_while(wait, late_loop)
    assert max(lags) > STUCK_S
    assert "stuck" not in caplog.text


def test_a_loop_that_waited_for_a_processor_is_not_called_stuck(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lag, "cpu_wait_s", lambda _: time.monotonic())
    with caplog.at_level(logging.WARNING):
        lags = lags_while(hold_up, asyncio.new_event_loop)
    assert max(lags) > STUCK_S
    assert "stuck" not in caplog.text


def test_waiting_for_a_processor_is_reported_by_the_kernel() -> None:
    assert lag.cpu_wait_s(threading.get_native_id()) > 0
    assert lag.cpu_wait_s(0) == 0


@pytest.mark.parametrize("loops", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_an_idle_loop_is_seen_to_wait(loops: Loops) -> None:
    watch, thread = LagWatch(lambda _: None), threading.get_ident()
    seen: list[bool] = []

    def look() -> None:
        for _ in range(20):
            time.sleep(0.02)
            seen.append(watch._waits(sys._current_frames()[thread]))

    async def idle() -> None:
        watching = asyncio.create_task(watch.run())
        await asyncio.to_thread(look)
        watching.cancel()

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(idle())
    assert any(seen)
