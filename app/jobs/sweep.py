"""Loops that look for abandoned and expired work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger()


async def every(
    seconds: float, action: Callable[[], Awaitable[object]], *, at_once: bool = False
) -> None:
    """Do something again and again until cancelled; a failure is logged, and tried again."""
    if not at_once:
        await asyncio.sleep(seconds)
    while True:
        try:
            await action()
        except Exception as error:
            log.warning("will be tried again", action=action.__name__, error=type(error).__name__)
        await asyncio.sleep(seconds)
