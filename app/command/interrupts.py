"""End commands as the shell expects after Ctrl-C and SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from typer.core import TyperGroup

from gradmend.command import interrupted

T = TypeVar("T")


class Interruptible(TyperGroup):
    """Commands that Ctrl-C ends without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit with 130 if Ctrl-C ends it, as shells expect."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            interrupted()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end; SIGTERM and Ctrl-C cancel, so that everything started is ended."""

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await main

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None
