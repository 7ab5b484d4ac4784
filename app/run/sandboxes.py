"""Choose the sandbox of a process from its settings."""

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
    """Return a client of the launcher's socket, or an embedded sandbox; None if scripts are only
    read.

    Starts nothing before the first use.
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
    """Return a session for the runs of one diagnosis; None inside it if there is no sandbox."""
    return nullcontext() if sandbox is None else sandbox.session()


async def readiness_of(sandbox: Sandbox | None, within_s: float = LOOK_S) -> Readiness:
    """Return the sandbox's readiness; not ready if it does not answer within `within_s` seconds."""
    if sandbox is None:
        return Readiness(ready=False, backend="none", reason="running is switched off here")
    try:
        async with asyncio.timeout(within_s):
            return await sandbox.readiness()
    except TimeoutError:
        reason = f"the sandbox does not answer within {within_s:g} s"
        return Readiness(ready=False, backend="unknown", reason=reason)
