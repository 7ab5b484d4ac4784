"""Reaching out: by TCP, UDP, UNIX, abstract, netlink and vsock sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.abuse.attacking import Target, unique_name

pytestmark = pytest.mark.asyncio(loop_scope="session")


@contextlib.contextmanager
def host_socket(family: int, kind: int, address: str | tuple[str, int]) -> Iterator[socket.socket]:
    """A socket of the host's that somebody inside may try to reach; it never waits."""
    with socket.socket(family, kind) as listener:
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen(1)
        listener.setblocking(False)
        yield listener


async def test_tcp_does_not_reach_the_host(target: Target) -> None:
    with host_socket(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)) as listener:
        result = await target.attack(f"""
            import socket
            socket.create_connection({listener.getsockname()!r}, timeout=2).sendall(b"out")
        """)
        assert result.status == "raised"
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_udp_does_not_reach_the_host(target: Target) -> None:
    with host_socket(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)) as listener:
        await target.attack(f"""
            import socket
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"out", {listener.getsockname()!r})
        """)
        with pytest.raises(BlockingIOError):
            listener.recv(16)


@pytest.mark.parametrize("hidden", [False, True], ids=["pathname", "abstract"])
async def test_unix_sockets_do_not_reach_the_host(
    target: Target, tmp_path: Path, hidden: bool
) -> None:
    address = "\0" + unique_name() if hidden else str(tmp_path / "socket")
    with host_socket(socket.AF_UNIX, socket.SOCK_STREAM, address) as listener:
        result = await target.attack(f"""
            import socket
            socket.socket(socket.AF_UNIX).connect({address!r})
        """)
        assert result.status == "raised"
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("family", ["AF_VSOCK", "AF_PACKET", "AF_ALG", "AF_TIPC"])
async def test_other_families_do_not_exist(target: Target, family: str) -> None:
    result = await target.attack(f"""
        import socket
        try:
            socket.socket(socket.{family}, socket.SOCK_STREAM)
        except OSError as error:
            print(error.errno)
    """)
    assert result.stdout_tail == "97\n"  # EAFNOSUPPORT


async def test_of_netlink_only_the_list_of_interfaces_can_be_asked(target: Target) -> None:
    result = await target.attack("""
        import socket
        print([name for _, name in socket.if_nameindex()])
        for protocol in range(1, 23):
            try:
                socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
                print("opened", protocol)
            except OSError as error:
                assert error.errno == 93, error  # EPROTONOSUPPORT
    """)
    assert (result.status, result.stdout_tail) == ("finished", "['lo']\n")


async def test_the_outside_has_no_route(target: Target) -> None:
    result = await target.attack("""
        import errno, socket
        for address in ("1.1.1.1", "169.254.169.254", "10.0.0.1"):
            with socket.socket() as probe:
                probe.settimeout(2)
                print(errno.errorcode[probe.connect_ex((address, 80))])
    """)
    assert result.stdout_tail.split() == ["ENETUNREACH"] * 3


async def test_processes_inside_may_talk_to_one_another(target: Target) -> None:
    result = await target.attack("""
        import socket
        listener = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(listener.getsockname())
        listener.accept()[0].sendall(b"hello")
        print(client.recv(5))
    """)
    assert result.stdout_tail == "b'hello'\n"
