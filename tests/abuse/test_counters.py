"""What the kernel counts by user, or not at all: descriptors under way, sockets, their buffers."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

import pytest

from tests.abuse.attacking import (
    CALL_ME,
    HONEST,
    HONEST_OUTPUT,
    Target,
    processes_named,
    unique_name,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

DESCRIPTORS_UNDER_WAY = """
import os, socket
null = os.open("/dev/null", 0)
keep = []
for count in (200, 250):
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    keep += pair
    socket.send_fds(pair[0], [b"x"], [null] * count)
"""
HOLD = "import select; select.select([], [], [], 60)\n"


@contextlib.asynccontextmanager
async def holding(target: Target, source: str) -> AsyncIterator[None]:
    """A run that has come to the end of `source`, and keeps what it has meanwhile."""
    name = unique_name()
    attack = asyncio.create_task(target.run(source + CALL_ME.format(name=name) + HOLD))
    try:
        while not processes_named(name):
            assert not attack.done(), attack.result()
            await asyncio.sleep(0.02)
        yield
    finally:
        attack.cancel()


async def test_descriptors_under_way_hinder_no_other_run(target: Target) -> None:
    async with holding(target, DESCRIPTORS_UNDER_WAY):
        next_to = await asyncio.gather(*(target.run(HONEST) for _ in range(3)))
    for honest in next_to:
        assert (honest.status, honest.stdout_tail) == ("finished", HONEST_OUTPUT), honest


@pytest.mark.parametrize("option", ["SO_SNDBUF", "SO_RCVBUF"])
async def test_buffers_of_sockets_cannot_be_raised(target: Target, option: str) -> None:
    result = await target.attack(f"""
        import socket
        pair = socket.socketpair()
        try:
            pair[0].setsockopt(socket.SOL_SOCKET, socket.{option}, 8 << 20)
        except PermissionError:
            print("refused")
    """)
    assert result.stdout_tail == "refused\n"


async def test_sockets_of_all_processes_are_counted(target: Target) -> None:
    result = await target.attack("""
        import os, socket, select
        for _ in range(20):
            if os.fork() == 0:
                keep = [socket.socketpair() for _ in range(100)]
                select.select([], [], [], 8)
                os._exit(0)
        select.select([], [], [], 8)
    """)
    assert (result.status, result.limit) == ("limit_hit", "sockets")


async def test_a_connection_keeps_little_in_its_buffers(target: Target) -> None:
    result = await target.attack("""
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        client.setblocking(False)
        sent = 0
        try:
            while True:
                sent += client.send(bytes(65536))
        except BlockingIOError:
            print(sent < 1 << 20)
    """)
    assert result.stdout_tail == "True\n"


@pytest.mark.parametrize(
    "call",
    [
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",  # multipath TCP
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)",  # UDP-Lite
        "socket.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bbr')",
    ],
)
async def test_unusual_protocols_cannot_be_had(target: Target, call: str) -> None:
    result = await target.attack(f"""
        import socket
        try:
            {call}
        except OSError as error:
            print(type(error).__name__)
    """)
    assert result.stdout_tail in ("OSError\n", "PermissionError\n")


async def test_names_too_long_for_a_file_refuse_the_run(target: Target) -> None:
    result = await target.run("pass", files={"train.py": "pass", "ä" * 200 + ".py": ""})
    assert result.status == "unavailable"
    assert "files" in (result.reason or "")
    assert "/" not in result.stderr_tail


WATCHES = """
import ctypes
libc = ctypes.CDLL(None)
held = [libc.inotify_init1(0) for _ in range({count})]
assert held[0] >= 0
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="without root, runs share one kernel user")
@pytest.mark.parametrize("target", ["jail"], indirect=True)  # containers share one, as docs say
async def test_watches_of_files_hinder_no_other_run(target: Target) -> None:
    """Of 128 that the kernel allows a user."""
    async with holding(target, WATCHES.format(count=140)):
        next_to = await target.run(WATCHES.format(count=1))
    assert next_to.status == "finished", next_to
