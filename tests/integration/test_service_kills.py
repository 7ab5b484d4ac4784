"""Processes and connections die in the middle of jobs; nothing accepted is lost, and each
diagnosis gets exactly one result."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.abuse.attacking import CALL_ME, processes_named, unique_name
from tests.postgres import Cluster
from tests.processes import Process, Server, alive, children, eventually, running

SLOW = """
import select
for _ in range(12):
    select.select([], [], [], 0.1)
print({!r})
"""
QUICK_TO_NOTICE = {"lease_s": 4, "sweep_s": 0.5, "shutdown_grace_s": 0.5, "concurrency": 2}


class House:
    """A server and, on the queue, workers; whatever dies can be started again."""

    def __init__(self, directory: Path, stack: ExitStack, settings: dict[str, Any]) -> None:
        self._directory = directory
        self._stack = stack
        self._slow = unique_name()
        self._settings = {**QUICK_TO_NOTICE, **settings}
        self.server = self.start_server()
        self.workers: list[Process] = []

    def start_server(self) -> Server:
        self.server = Server(self._directory, **self._settings)
        self._stack.enter_context(running(self.server))
        return self.server

    def start_worker(self) -> Process:
        worker = Process(self._directory, "worker", **self._settings)
        self._stack.enter_context(running(worker))
        self.workers.append(worker)
        return worker

    def submit(self, count: int) -> list[str]:
        """Slow scripts, none of them waited for."""
        slow = CALL_ME.format(name=self._slow) + SLOW
        return [self.server.ask(slow.format(n), wait=0)["id"] for n in range(count)]

    def some_run(self) -> None:
        """Wait until a script runs: work is under way, and far from its end."""
        eventually(lambda: bool(processes_named(self._slow)), 240)

    def count(self, ids: list[str]) -> None:
        """Every diagnosis ends well, and has one result: the scripts walk no graph."""
        for diagnosis_id in ids:
            eventually(partial(self.server.finished, diagnosis_id), 240)
        for diagnosis_id in ids:
            diagnosis = self.server.read(diagnosis_id)
            assert (diagnosis["status"], diagnosis["verdict"]) == ("done", "inconclusive"), (
                diagnosis
            )
            assert self.server.results(diagnosis_id) == 1


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def embedded(tmp_path: Path, stack: ExitStack) -> House:
    return House(tmp_path, stack, {})


@pytest.fixture
def queue(tmp_path: Path, stack: ExitStack, cluster: Cluster) -> House:
    return House(tmp_path, stack, {"jobs": "queue", "database_url": cluster.new_database()})


def launchers(process: Process) -> set[int]:
    """The sandbox launchers below a process."""
    return {
        pid
        for pid in children(process.pid)
        if b"sandbox.launcher" in Path(f"/proc/{pid}/cmdline").read_bytes()
    }


def test_killed_server_leaves_no_process_and_loses_no_job(embedded: House) -> None:
    ids = embedded.submit(4)
    embedded.some_run()
    started = children(embedded.server.pid)
    embedded.server.kill()
    eventually(lambda: not alive(started))
    embedded.start_server()
    embedded.count(ids)


@pytest.mark.rotating
def test_stopped_server_hands_back_and_goes_on(embedded: House) -> None:
    ids = embedded.submit(3)
    embedded.some_run()
    assert embedded.server.end() in (0, -signal.SIGTERM)
    embedded.start_server()
    embedded.count(ids)


def test_killed_launcher_costs_no_job(embedded: House) -> None:
    eventually(lambda: embedded.server.http.get("/readyz").status_code == 200)
    ids = embedded.submit(2)
    embedded.some_run()
    killed = launchers(embedded.server)
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    embedded.count(ids)


@pytest.mark.rotating(2)
def test_killed_worker_costs_no_job(queue: House) -> None:
    first = queue.start_worker()
    ids = queue.submit(4)
    queue.some_run()
    started = children(first.pid)
    first.kill()
    eventually(lambda: not alive(started))
    queue.start_worker()
    queue.count(ids)


@pytest.mark.rotating
def test_killed_server_on_the_queue_costs_no_job(queue: House) -> None:
    queue.start_worker()
    ids = queue.submit(3)
    queue.some_run()
    queue.server.kill()
    queue.start_server()
    queue.count(ids)


@pytest.mark.rotating
def test_two_workers_share_and_one_ends_gracefully(queue: House) -> None:
    both = [queue.start_worker(), queue.start_worker()]
    eventually(lambda: queue.server.http.get("/readyz").status_code == 200, 240)
    ids = queue.submit(4)
    queue.some_run()
    busy = next(worker for worker in both if launchers(worker))
    assert busy.end() in (0, 128 + signal.SIGTERM)
    queue.count(ids)


@pytest.mark.rotating
@pytest.mark.parametrize("break_it", [Cluster.cut_connections, "restart"])
def test_lost_database_costs_no_job(
    queue: House, cluster: Cluster, break_it: Callable[[Cluster], None] | str
) -> None:
    queue.start_worker()
    ids = queue.submit(3)
    queue.some_run()
    if callable(break_it):
        break_it(cluster)
    else:
        cluster.stop()
        cluster.start()
    queue.count(ids)
