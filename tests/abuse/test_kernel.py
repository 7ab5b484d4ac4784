"""Asking the kernel for more than a training script needs."""

from __future__ import annotations

import pytest

from sandbox.walls.numbers import NUMBERS, number
from sandbox.walls.seccomp import ABSENT, DENIED
from tests.abuse.attacking import Target

pytestmark = pytest.mark.asyncio(loop_scope="session")

EPERM, ENOSYS = 1, 38
REFUSED = {name: EPERM for group in DENIED.values() for name in group.split()}
REFUSED |= dict.fromkeys(ABSENT.split(), ENOSYS)


async def test_every_refused_call_answers_an_error_and_no_signal(target: Target) -> None:
    calls = {name: number(name) for name in REFUSED}
    result = await target.attack(f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for name, number in {calls}.items():
            ctypes.set_errno(0)
            answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
            print(name, answer, ctypes.get_errno())
    """)
    answers = [line.split() for line in result.stdout_tail.splitlines()]
    assert {name: (int(answer), int(code)) for name, answer, code in answers} == {
        name: (-1, code) for name, code in REFUSED.items()
    }


@pytest.mark.parametrize("flag", ["NEWUSER", "NEWNS", "NEWPID", "NEWNET", "NEWIPC", "NEWUTS"])
async def test_no_new_namespace_by_clone(target: Target, flag: str) -> None:
    from sandbox.walls import libc

    flags = getattr(libc, f"CLONE_{flag}")
    result = await target.attack(f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        clone, flags = ctypes.c_long({number("clone")}), ctypes.c_long({flags} | 17)
        print(libc.syscall(clone, flags, 0, 0, 0, 0))
        print(ctypes.get_errno())
    """)
    assert result.stdout_tail == f"-1\n{EPERM}\n"


async def test_calls_newer_than_the_table_are_absent(target: Target) -> None:
    beyond = [457, 462, 470, 600, 0x4000_0000 + 39]
    result = await target.attack(f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for number in {beyond}:
            print(libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0), ctypes.get_errno())
    """)
    assert result.stdout_tail == f"-1 {ENOSYS}\n" * len(beyond)


async def test_limits_of_other_processes_cannot_be_set(target: Target) -> None:
    result = await target.attack("""
        import os, resource
        for pid in (1, os.getppid(), os.getpid()):
            try:
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8))
                print("set")
            except OSError as error:
                print(error.errno)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        print(resource.prlimit(0, resource.RLIMIT_NOFILE))
    """)
    assert result.stdout_tail == f"{EPERM}\n" * 3 + "(64, 64)\n"


async def test_no_input_is_put_into_a_terminal(target: Target) -> None:
    """TIOCSTI and TIOCLINUX, also with bits that the kernel ignores; on no terminal at all, where
    only the filter answers EPERM."""
    result = await target.attack(f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
            libc.syscall({number("ioctl")}, 0, ctypes.c_long(request), b"x")
            print(ctypes.get_errno())
    """)
    assert result.stdout_tail == f"{EPERM}\n" * 3


async def test_devices_cannot_be_made(target: Target) -> None:
    result = await target.attack("""
        import os, stat
        try:
            os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
            open("/tmp/disk", "rb").read(16)
            print("read a disk")
        except OSError:
            print("refused")
    """)
    assert result.stdout_tail == "refused\n"


async def test_no_capability_is_held_or_can_be_gained(target: Target) -> None:
    result = await target.attack("""
        for line in open("/proc/self/status"):
            if line.startswith("Cap") and not line.startswith("CapInh"):
                print(int(line.split()[1], 16))
    """)
    assert result.stdout_tail.split() == ["0"] * 4


async def test_the_table_names_every_call_that_the_policy_refuses() -> None:
    assert set(REFUSED) <= set(NUMBERS)
