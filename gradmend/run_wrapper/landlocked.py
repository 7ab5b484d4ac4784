"""Starts a repeated run under Landlock: `python -m gradmend.run_wrapper.landlocked BOX WORDS…`.

The kernel refuses every write outside of the box and a few caches, from any process: a write that
Python's functions do not redirect raises an error, and never reaches a file of the user's.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from gradmend import parts

CACHES = ("~/.cache", "~/.nv", "~/.triton", "/dev", "/proc")


def kept() -> list[str]:
    """Return folders that a repeated run may write directly."""
    return [path for path in map(os.path.expanduser, CACHES) if os.path.isdir(path)]


def available() -> bool:
    """Return True if the kernel supports Landlock."""
    from sandbox.walls import landlock

    return sys.platform == "linux" and landlock.version() > 0


def main(box: str, command: list[str]) -> None:
    """Raise the wall, if it is to be had, and become the command."""
    parts.join()
    from sandbox.walls import landlock, libc

    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody waits for it any more
    environment = json.loads(Path(box, "environment.json").read_text())
    if available():
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        landlock.apply([box, *kept()])
    os.execvpe(command[0], command, environment)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
