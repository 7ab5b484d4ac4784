"""Define where a run may write, in every backend."""

from __future__ import annotations

WORK = "/job"
# Deep enough for scripts that create directories next to and above their own (`../../data`).
PROJECT = f"{WORK}/home/user/code/project"
WRITABLE = (WORK, "/tmp", "/dev/shm")
