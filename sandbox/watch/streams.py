"""Read one stream of a run, up to a cap."""

from __future__ import annotations

import os

_CHUNK = 65536


class Stream:
    """Keeps up to `keep` bytes (the last ones if `tail`), and says when `allow` is exceeded."""

    def __init__(self, limit: str, *, keep: int, allow: int, tail: bool = True) -> None:
        self.limit = limit
        self.kept = bytearray()
        self._keep = keep
        self._allow = allow
        self._tail = tail
        self._total = 0

    @property
    def exceeded(self) -> bool:
        return self._total > self._allow

    def take(self, handle: int) -> bool:
        """Read once from a non-blocking descriptor; false when there is no more for now."""
        try:
            chunk = os.read(handle, _CHUNK)
        except BlockingIOError:
            return False
        self._total += len(chunk)
        self.kept += chunk
        if len(self.kept) > self._keep:
            if self._tail:
                del self.kept[: -self._keep]
            else:
                del self.kept[self._keep :]
        return bool(chunk)
