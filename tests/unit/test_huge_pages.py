"""A warm parent keeps what it has allocated in huge pages, so that its forks are cheap."""

from __future__ import annotations

import mmap
import subprocess
import sys

import pytest

from sandbox.walls import libc
from sandbox.watch import pages

_MIB = 1 << 20
_WARM = """\
from sandbox.watch.script import prepare
kept = [str(number) for number in range(1_000_000)]
prepare()
rows = (line.split() for line in open("/proc/self/smaps_rollup"))
print(next(int(row[1]) for row in rows if row[0] == "AnonHugePages:"))
assert kept == [str(number) for number in range(1_000_000)]
"""


def _collapses() -> bool:
    """Whether this kernel moves memory into huge pages when it is asked to."""
    memory = mmap.mmap(-1, 4 * _MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(b"x" * (4 * _MIB))
    pages.join()
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return "AnonHugePages:         0 kB" not in file.read()


def test_what_a_parent_allocated_lies_in_huge_pages() -> None:
    if not _collapses():
        pytest.skip("this kernel collapses no pages")
    run = subprocess.run([sys.executable, "-c", _WARM], capture_output=True, text=True, check=True)
    assert int(run.stdout) * 1024 > 40 * _MIB  # of the 60 MiB of a million strings


def test_an_advice_that_the_kernel_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match=r"madvise"):
        libc.madvise(0, 2 * _MIB, libc.MADV_COLLAPSE)
