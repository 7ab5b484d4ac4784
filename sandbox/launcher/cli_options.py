"""The launcher's command line."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from sandbox.jail.zygote import ENTRY


@dataclass(frozen=True)
class LauncherOptions:
    """How a launcher was asked to work."""

    backend: str = "jail"
    socket: Path | None = None
    channel: int | None = None
    parent: int | None = None
    group: str | None = None
    concurrency: int = 0
    sessions: int = 0
    queue: int = 64
    allow_missing: frozenset[str] = frozenset()
    runs_per_parent: int = 200
    entry: str = ENTRY
    image: str = "gradmend-sandbox"
    runtime: str = "runc"
    ready_containers: int = 2
    warm: bool = False

    @property
    def slots(self) -> int:
        """Return how many runs are made at once: as requested, else one for each core."""
        return self.concurrency or len(os.sched_getaffinity(0))

    @property
    def places(self) -> int:
        """Return how many sessions are held at once: while one is between runs, another may run."""
        return self.sessions or 2 * self.slots


def parse(arguments: list[str] | None = None) -> LauncherOptions:
    """Read the command line; ends the process with a message when it is wrong."""
    parser = argparse.ArgumentParser(prog="gradmend sandbox", description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--socket", type=Path, help="path of the UNIX socket to serve")
    where.add_argument("--channel", type=int, help="inherited descriptor that hands out sockets")
    parser.add_argument("--parent", type=int, help="end when the process with this pid ends")
    parser.add_argument("--group", help="group that may connect; otherwise only the owner may")
    parser.add_argument("--backend", choices=["jail", "container"], default="jail")
    parser.add_argument("--concurrency", type=int, default=0, help="runs at once; 0: the cores")
    parser.add_argument("--sessions", type=int, default=0, help="sessions at once; 0: two a slot")
    parser.add_argument("--queue", type=int, default=64, help="runs, and sessions, that may wait")
    parser.add_argument(
        "--allow-missing",
        action="append",
        default=[],
        choices=["landlock"],
        help="run even where the kernel lacks this wall; readiness then says that it is missing",
    )
    parser.add_argument("--runs-per-parent", type=int, default=200, help="then a fresh zygote")
    parser.add_argument("--entry", default=ENTRY, help="module:function that runs a job")
    parser.add_argument("--image", default="gradmend-sandbox", help="image that holds torch")
    parser.add_argument("--runtime", default="runc", help="one of the engine's runtimes")
    parser.add_argument("--ready-containers", type=int, default=2, help="containers kept waiting")
    parser.add_argument("--warm", action="store_true", help="get ready before the first request")
    given = vars(parser.parse_args(arguments))
    return LauncherOptions(**{**given, "allow_missing": frozenset(given["allow_missing"])})
