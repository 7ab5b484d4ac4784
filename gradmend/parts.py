"""Where the packages next to this one lie, and how a process comes to import them.

In a wheel they lie in `gradmend/_parts`, which no interpreter looks into by itself; in a checkout
at its top. Only processes of Gradmend's own join them to their path: never one that runs a
user's program.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
FOLDER = _HERE / "_parts" if (_HERE / "_parts").is_dir() else _HERE.parent


def join() -> None:
    """Make this process one of Gradmend's: its packages come first. What the user's environment
    adds to the path comes last: a project's `types.py` takes nobody's place here."""
    added = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    theirs = {"", os.getcwd(), *added, *map(os.path.abspath, added)}
    own = [path for path in sys.path if path not in theirs]
    last = [path for path in sys.path if path in theirs and path]
    sys.path[:] = list(dict.fromkeys([str(FOLDER), *own, *last]))


def environment() -> dict[str, str]:
    """Return the environment of a further process of Gradmend's own."""
    return {**os.environ, "PYTHONPATH": str(FOLDER)}
