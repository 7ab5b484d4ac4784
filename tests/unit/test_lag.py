"""A loop that is held up is seen, and the place that held it is told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

import pytest

from sandbox.lag import STUCK_S, LagWatch


def hold_up() -> None:
    until = time.monotonic() + 3 * STUCK_S
    while time.monotonic() < until:
        pass


async def test_a_held_loop_is_measured_and_its_place_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lags: list[float] = []
    watching = asyncio.create_task(LagWatch(lags.append).run())
    with caplog.at_level(logging.WARNING):
        await asyncio.sleep(0.2)
        hold_up()
        await asyncio.sleep(0.2)
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    assert max(lags) > STUCK_S
    assert "hold_up" in caplog.text
