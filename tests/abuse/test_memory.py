"""Memory, by every road that leads to it."""

from __future__ import annotations

import pytest

from tests.abuse.attacking import Target

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMIT_MIB = 512

HOARDS = {
    "heap": """
        hoard = []
        while True:
            hoard.append(b"x" * (8 << 20))
    """,
    "tensors": """
        import torch
        hoard = []
        while True:
            hoard.append(torch.ones(1 << 20))
    """,
    "shared mappings": """
        import mmap
        hoard = []
        while True:
            hoard.append(mmap.mmap(-1, 8 << 20))
            hoard[-1].write(b"x" * (8 << 20))
    """,
    "many processes": """
        import os, select
        for _ in range(40):
            if os.fork() == 0:
                hoard = b"x" * (40 << 20)
                select.select([], [], [], 60)
        select.select([], [], [], 60)
    """,
    "processes that hide their memory": """
        import ctypes, os, select
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        for _ in range(40):
            if os.fork() == 0:
                hoard = b"x" * (40 << 20)
                select.select([], [], [], 60)
        select.select([], [], [], 60)
    """,
    "shared memory files": """
        import mmap, os
        for number in range(1000):
            handle = os.open(f"/dev/shm/{number}", os.O_CREAT | os.O_RDWR)
            os.ftruncate(handle, 8 << 20)
            mmap.mmap(handle, 8 << 20).write(b"x" * (8 << 20))
    """,
}


@pytest.mark.parametrize("road", HOARDS)
async def test_hoarding_ends_at_the_limit(target: Target, road: str) -> None:
    result = await target.attack(HOARDS[road], memory_mib=LIMIT_MIB, time_limit_s=30)
    assert result.status in ("limit_hit", "raised"), result
    assert result.limit in ("memory", "disk", None)
    assert result.peak_memory_mib <= LIMIT_MIB


@pytest.mark.parametrize(
    "call", ["memfd_create(b'x', 0)", "shmget(0, 1 << 20, 0o1600)", "msgget(0, 0o1600)"]
)
async def test_memory_that_no_limit_would_count_cannot_be_had(target: Target, call: str) -> None:
    result = await target.attack(f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.{call}, ctypes.get_errno())
    """)
    assert result.stdout_tail == "-1 1\n"  # EPERM


async def test_where_memory_runs_out_the_kernel_takes_the_script_first(target: Target) -> None:
    result = await target.attack("""
        def score(pid):
            with open(f"/proc/{pid}/oom_score_adj") as file:
                return int(file.read())
        try:
            open("/proc/self/oom_score_adj", "w").write("-1000")
        except OSError:
            print(score("self"), score(1))
    """)
    assert result.stdout_tail == "1000 0\n"


async def test_locking_memory_is_refused(target: Target) -> None:
    result = await target.attack("""
        import ctypes
        print(ctypes.CDLL(None).mlockall(3))
    """)
    assert result.stdout_tail == "-1\n"


async def test_pages_shared_with_the_warm_parent_are_not_counted_twice(target: Target) -> None:
    """Twenty processes that share one heap need one heap, not twenty."""
    result = await target.attack(
        """
        import os, select
        heap = bytearray(100 << 20)
        heap[::4096] = b"x" * len(heap[::4096])
        for _ in range(20):
            if os.fork() == 0:
                sum(heap[::4096])
                select.select([], [], [], 1)
                os._exit(0)
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        print("shared")
        """,
        memory_mib=1024,
    )
    assert (result.status, result.stdout_tail) == ("finished", "shared\n")
