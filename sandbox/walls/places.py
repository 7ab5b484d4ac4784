"""Where a run may write, behind every backend."""

from __future__ import annotations

WORK = "/job"
# Scripts make directories beside and above their own (`../../data`): the project lies deep enough.
PROJECT = f"{WORK}/home/user/code/project"
WRITABLE = (WORK, "/tmp", "/dev/shm")
