"""Where a run may write, behind every backend."""

from __future__ import annotations

WORK = "/job"
WRITABLE = (WORK, "/tmp", "/dev/shm")
