"""A UNIX socket that passes everything on to another one, until it is cut."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path


@contextlib.asynccontextmanager
async def relayed(source: str, path: Path) -> AsyncIterator[None]:
    """Serve `path` for the server at `source`; at the end every connection breaks off."""
    under_way: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_unix_connection(source)
        for one, other in ((reader, ahead), (behind, writer)):
            task = asyncio.create_task(_pass_on(one, other))
            under_way.add(task)
            task.add_done_callback(under_way.discard)

    async with await asyncio.start_unix_server(serve, path):
        try:
            yield
        finally:
            os.unlink(path)
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except asyncio.CancelledError:
            writer.close()
            raise
