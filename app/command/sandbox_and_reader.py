"""What diagnoses and verifications of this process share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pebble import CONSTS

from app.command.options import BadInput, Options
from app.request.reader import Reader, collect_rarely
from sandbox.protocol import Sandbox


@asynccontextmanager
async def tools(options: Options) -> AsyncIterator[tuple[Sandbox | None, Reader]]:
    """What diagnoses share: a sandbox, unless nothing is run, and a process that reads.

    The sandbox begins to get warm at once, so import what is slow to import inside of this.
    """
    sandbox = await _started_sandbox(options.torch) if options.run == "auto" else None
    CONSTS.sleep_unit = 0.01  # seconds; the pool's end waits for so long
    reader = Reader(workers=1, prepare=collect_rarely, context="fork")
    try:
        yield sandbox, reader
    finally:
        await reader.close()  # first: it was forked with the sandbox's sockets open
        if sandbox is not None:
            await sandbox.close()


async def _started_sandbox(torch: str) -> Sandbox | None:
    from app.run.sandboxes import open_sandbox
    from app.settings import Settings
    from sandbox.client import EmbeddedSandbox

    settings = Settings()
    sandbox = open_sandbox(settings, _place(torch, settings.torches) if torch else None)
    if isinstance(sandbox, EmbeddedSandbox):
        with suppress(OSError):  # the first run tries again, and says why
            await sandbox.start()
    return sandbox


def _place(torch: str, named: Mapping[str, Path]) -> Path:
    """Return where a torch is that is named, or the interpreter itself. Raises `BadInput`."""
    from app.run.sandboxes import lacking

    place = named.get(torch) or Path(torch).absolute()
    if not place.exists():
        here = f"; GRADMEND_TORCH_SANDBOXES names {', '.join(named)}" if named else ""
        raise BadInput(f"--torch {torch} is not an interpreter such as env/bin/python{here}.")
    if problem := lacking(place):
        raise BadInput(f"--torch {torch}: {problem}.")
    return place
