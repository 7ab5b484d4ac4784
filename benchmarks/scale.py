"""What a diagnosis costs where many work off one queue.

    python -m benchmarks.scale [--workers 1 2] [--count 40]

Starts PostgreSQL, a web process that only queues, and so many workers; sends verified diagnoses,
each of a script that nobody sent before. Prints diagnoses a minute; for each diagnosis, commits,
rows written and notifications; the memory of a worker with its launcher and warm parent; and how
long a new worker takes to its first result. Workers share this machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from app.store.listen import CHANNEL
from benchmarks.load import SCRIPT
from benchmarks.memory import by_role
from tests.postgres import Cluster
from tests.processes import Process, Server, eventually, running

SETTINGS: dict[str, Any] = {
    "jobs": "queue",
    "reuse_results": "false",
    "log_level": "warning",
    "queue_limit": 10_000,
}
WRITES = ("xact_commit", "tup_inserted", "tup_updated", "tup_deleted")


@dataclass
class Listening:
    """Counts the notifications of changes, as every process of the service hears them."""

    url: str
    heard: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def listen(self) -> None:
        """Count until asked to stop."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"LISTEN {CHANNEL}".encode())
            while not self._over.is_set():
                self.heard += sum(1 for _ in connection.notifies(timeout=0.2))

    def stop(self) -> None:
        """Count no more."""
        self._over.set()


def writes(url: str) -> dict[str, int]:
    """What the database has written so far."""
    query = f"SELECT {', '.join(WRITES)} FROM pg_stat_database WHERE datname = current_database()"
    with psycopg.connect(url) as connection:
        connection.execute(b"SELECT pg_stat_force_next_flush()")
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return dict(zip(WRITES, row, strict=True))


async def worked_off(server: Server, count: int, first: int) -> float:
    """Seconds until so many different diagnoses, all sent at once, have ended."""
    async with httpx.AsyncClient(base_url=server.url, timeout=600) as http:

        async def one(number: int) -> None:
            body = {"script": f"{SCRIPT}\n# {number}\n"}
            found = (await http.post("/v1/diagnoses?wait=60", json=body)).json()
            while found["status"] not in ("done", "failed"):
                await asyncio.sleep(0.5)
                found = (await http.get(f"/v1/diagnoses/{found['id']}")).json()
            assert found["verdict"] == "confirmed", found["verdict"]

        began = time.perf_counter()
        await asyncio.gather(*(one(number) for number in range(first, first + count)))
        return time.perf_counter() - began


def measure(workers: int, count: int, cluster: Cluster, directory: Path) -> str:
    """A row of the table."""
    url = cluster.new_database()
    with ExitStack() as stack:
        server = Server(directory, **SETTINGS, database_url=url)
        stack.enter_context(running(server))
        starts: list[float] = []
        started: list[Process] = []
        for number in range(workers):
            began = time.perf_counter()
            worker = Process(directory, "worker", **SETTINGS, database_url=url, concurrency=1)
            stack.enter_context(running(worker))
            started.append(worker)
            if not number:  # the others would leave it nothing to begin with
                asyncio.run(worked_off(server, 1, -1))
                starts.append(time.perf_counter() - began)
        eventually(lambda: server.http.get("/readyz").status_code == 200, 120)
        asyncio.run(worked_off(server, 2 * workers, -100))  # every worker is warm now
        listening = Listening(url)
        thread = threading.Thread(target=listening.listen)
        thread.start()
        time.sleep(0.5)
        before = writes(url)
        spent = asyncio.run(worked_off(server, count, 0))
        after = writes(url)
        listening.stop()
        thread.join()
        roles = [by_role(worker.pid) for worker in started]
    each = [(after[name] - before[name]) / count for name in WRITES]
    memory = [statistics.mean(r.get(role, 0.0) for r in roles) for role in ROLES]
    cells = [
        *(f"{value:.1f}" for value in (60 * count / spent, *each, listening.heard / count)),
        *(f"{value:.0f}" for value in memory),
        f"{starts[0]:.1f}",
    ]
    return f"| {workers} | {' | '.join(cells)} |"


ROLES = ("web", "sandbox launcher", "warm parent of the runs", "readers")
HEAD = (
    "| workers | a minute | commits | inserted | updated | deleted | notified "
    "| worker MiB | launcher | warm parent | readers | s to first result |"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the database, measure with each number of workers, end everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--count", type=int, default=40, help="diagnoses for each row")
    options = parser.parse_args(arguments)
    print(HEAD)
    print("|" + "---|" * HEAD.count(" | ") + "---|")
    cluster = Cluster()
    try:
        for workers in options.workers:
            with tempfile.TemporaryDirectory() as directory:
                print(measure(workers, options.count, cluster, Path(directory)), flush=True)
    finally:
        cluster.remove()


if __name__ == "__main__":
    main()
