"""Choose the sandboxes of a process from its settings: its own, and those of further torches."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.client import EmbeddedSandbox, LauncherClient
from sandbox.protocol import Readiness, Sandbox, Session

if TYPE_CHECKING:
    from app.settings import Settings

LOOK_S = 180.0  # as long as a container may take to get warm
NEEDED = ("torch", "numpy", "pydantic")
"""What an interpreter must have to run a launcher and scripts."""
_LACKS = (
    "import sys; from importlib.util import find_spec; "
    "print(*[name for name in sys.argv[1:] if find_spec(name) is None])"
)


@dataclass
class Sandboxes:
    """The process' own sandbox, None if scripts are only read, and those of further torches, by
    the name that requests choose them by."""

    own: Sandbox | None
    further: Mapping[str, Sandbox | None] = field(default_factory=dict)

    def of(self, torch: str | None) -> Sandbox | None:
        """Return the sandbox of a version. Raise `LookupError` where this process has none."""
        if torch is None or self.own is None:
            return self.own
        if torch not in self.further:
            raise LookupError(f"this process has no torch {torch} (GRADMEND_TORCH_SANDBOXES)")
        return self.further[torch]

    async def close(self) -> None:
        """Close all of them; runs end."""
        for one in (self.own, *self.further.values()):
            if one is not None:
                await one.close()


def open_sandboxes(settings: Settings) -> Sandboxes:
    """Return clients of all sandboxes that the settings name. Start nothing before the first
    use."""
    further = {name: open_sandbox(settings, at) for name, at in settings.torches.items()}
    return Sandboxes(open_sandbox(settings), further)


def open_sandbox(settings: Settings, torch: Path | None = None) -> Sandbox | None:
    """Return a client of the launcher's socket, or an embedded sandbox; None if scripts are only
    read. `torch` is another interpreter, or the socket of another launcher.

    Starts nothing before the first use.
    """
    if torch is None and settings.sandbox_socket:
        return LauncherClient(settings.sandbox_socket)
    if torch is not None and _is_socket(torch):
        return LauncherClient(torch)
    if torch is None and settings.sandbox == "none":
        return None
    from app.settings import listed  # not for a command that only reads

    missing = listed(settings.sandbox_allow_missing)
    options = [word for wall in missing for word in ("--allow-missing", wall)]
    return EmbeddedSandbox(
        settings.sandbox if torch is None else "jail",
        [*options, "--concurrency", str(settings.workers)],
        python=torch or settings.sandbox_python or sys.executable,
    )


def lacking(interpreter: Path) -> str:
    """Return why nothing can be run with an interpreter; '' if something can."""
    if _is_socket(interpreter):
        return ""
    try:
        asked = subprocess.run(
            [interpreter, "-c", _LACKS, *NEEDED], capture_output=True, text=True, timeout=LOOK_S
        )
    except OSError as error:
        return f"{interpreter} cannot be started ({error.strerror})"
    if asked.returncode:
        return f"{interpreter} is no Python interpreter"
    missing = asked.stdout.split()
    return f"{interpreter} lacks {', '.join(missing)}; install it there" if missing else ""


def _is_socket(path: Path) -> bool:
    return path.exists() and stat.S_ISSOCK(path.stat().st_mode)


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
