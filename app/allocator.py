"""Memory that large requests took goes back to the system once they are answered."""

from __future__ import annotations

import ctypes

# Of glibc's malloc.h; other C libraries have no mallopt.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
LARGE = 128 * 1024
ARENAS = 2


def give_back() -> None:
    """Let every block of more than `LARGE` bytes be a mapping of its own, and the threads of this
    process share `ARENAS` heaps. As it comes, glibc takes ever larger blocks from its heaps once
    some were freed, and a heap shrinks only from its end."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE)
        mallopt(_M_ARENA_MAX, ARENAS)
