"""Put the memory of a warm parent into huge pages: a fork copies an entry of the page tables for
each page that the parent has written, and a run takes three forks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sandbox.walls import libc

_HUGE = 2 << 20  # of x86-64, and of arm64 with pages of 4 KiB
_PRIVATE_MEMORY = {"", "[heap]"}


def join() -> None:
    """Move what this process has allocated into huge pages, as far as the kernel can: before
    version 6.1 it cannot."""
    for start, end in _allocated():
        first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if first < last:  # one call for all, for each has the kernel wait for every processor
            with contextlib.suppress(OSError):  # a part is not used, or no huge page is free
                libc.madvise(first, last - first, libc.MADV_COLLAPSE)


def _allocated() -> Iterator[tuple[int, int]]:
    """Yield the writable mappings of this process that belong to no file."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _offset, _device, _inode, *name = line.split(maxsplit=5)
        if permissions == "rw-p" and "".join(name) in _PRIVATE_MEMORY:
            start, _, end = addresses.partition("-")
            yield int(start, 16), int(end, 16)
