"""`python -m sandbox.launcher`: serve until stopped, or until the parent has gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from sandbox.lag import LagWatch
from sandbox.launcher import backend, cli_options
from sandbox.launcher.cli_options import LauncherOptions
from sandbox.launcher.server import LauncherServer
from sandbox.wire import take_over


async def launch(chosen: LauncherOptions) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the parent; then end every run."""
    done = asyncio.Event()
    lag = asyncio.create_task(LagWatch(lambda _: None).run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, done.set)
    if chosen.parent is not None:
        _follow(chosen.parent, done)
    runner = backend.make(chosen)
    server = LauncherServer(runner, slots=chosen.slots, sessions=chosen.places, queue=chosen.queue)
    try:
        async with _listening(server, chosen, done):
            await done.wait()
    finally:
        lag.cancel()
        await runner.close()


def _follow(parent: int, done: asyncio.Event) -> None:
    """End when `parent` does, even if it is killed, whichever thread of it started us."""
    try:
        handle = os.pidfd_open(parent)
    except ProcessLookupError:
        done.set()
        return
    asyncio.get_running_loop().add_reader(handle, done.set)
    if os.getppid() != parent:
        done.set()


@contextlib.asynccontextmanager
async def _listening(
    server: LauncherServer, chosen: LauncherOptions, done: asyncio.Event
) -> AsyncIterator[None]:
    if chosen.channel is not None:
        _serve_channel(server, socket.socket(fileno=chosen.channel), done)
        yield
        return
    assert chosen.socket is not None
    with _socket_at(chosen.socket, chosen.group) as handle:
        listener = await asyncio.start_unix_server(server.serve, sock=handle)
        async with listener:
            yield


@contextlib.contextmanager
def _socket_at(path: Path, group: str | None) -> Iterator[socket.socket]:
    """Yield a listening socket to which its owner (and `group`) may connect;
    remove it at the end.
    """
    path.unlink(missing_ok=True)
    handle = socket.socket(socket.AF_UNIX)
    previous = os.umask(0o177)
    try:
        handle.bind(str(path))
    finally:
        os.umask(previous)
    if group is not None:
        shutil.chown(path, group=group)
        path.chmod(0o660)
    try:
        yield handle
    finally:
        path.unlink(missing_ok=True)


def _serve_channel(server: LauncherServer, channel: socket.socket, done: asyncio.Event) -> None:
    """Serve each socket that the parent hands over; its closing the channel ends us."""
    serving: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()

    async def serve(connection: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=connection)
        await server.serve(reader, writer)

    def accept() -> None:
        connection = take_over(channel)
        if connection is None:
            loop.remove_reader(channel)
            done.set()
            return
        task = loop.create_task(serve(connection))
        serving.add(task)
        task.add_done_callback(serving.discard)

    loop.add_reader(channel, accept)


if __name__ == "__main__":
    asyncio.run(launch(cli_options.parse()))
