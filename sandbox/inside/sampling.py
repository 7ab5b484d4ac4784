"""Which of an endless series of events are told: all at first, then ever fewer."""

from __future__ import annotations

FIRST = 64


def sampled(n: int) -> bool:
    """True for the first 64, then for every eighth, then for 64 in each doubling of `n`."""
    return n <= FIRST or n % (1 << max(3, n.bit_length() - 7)) == 0


def doubling(n: int) -> bool:
    """True for the first 8, then for every power of two."""
    return n <= 8 or n & (n - 1) == 0
