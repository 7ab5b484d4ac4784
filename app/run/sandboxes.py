"""Which sandbox a process uses, by its settings."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING

from sandbox.client import EmbeddedSandbox, LauncherClient
from sandbox.protocol import Readiness, Sandbox, Session

if TYPE_CHECKING:
    from app.settings import Settings

LOOK_S = 180.0  # as long as a container may take to get warm


def open_sandbox(settings: Settings) -> Sandbox | None:
    """The launcher behind a socket, or an embedded one; None: scripts are only read.

    Nothing is started before the first use.
    """
    if settings.sandbox_socket:
        return LauncherClient(settings.sandbox_socket)
    if settings.sandbox == "none":
        return None
    from app.settings import listed  # not for a command that only reads

    missing = listed(settings.sandbox_allow_missing)
    options = [word for wall in missing for word in ("--allow-missing", wall)]
    return EmbeddedSandbox(settings.sandbox, [*options, "--concurrency", str(settings.workers)])


def session_of(sandbox: Sandbox | None) -> AbstractAsyncContextManager[Session | None]:
    """For the runs of one diagnosis; without a sandbox there is nothing to run in."""
    return nullcontext() if sandbox is None else sandbox.session()


async def readiness_of(sandbox: Sandbox | None, within_s: float = LOOK_S) -> Readiness:
    """What a process can say about its sandbox within so many seconds."""
    if sandbox is None:
        return Readiness(ready=False, backend="none", reason="running is switched off here")
    try:
        async with asyncio.timeout(within_s):
            return await sandbox.readiness()
    except TimeoutError:
        reason = f"the sandbox does not answer within {within_s:g} s"
        return Readiness(ready=False, backend="unknown", reason=reason)
