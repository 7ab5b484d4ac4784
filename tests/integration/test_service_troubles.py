"""The clock is set, the store is full, read-only or away, all under load: whatever was accepted
ends, and ends once; what cannot be accepted is refused with the advice to come again."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.postgres import Cluster
from tests.processes import Process, Server, eventually, running

pytestmark = pytest.mark.rotating

READ = {
    "sandbox": "none",
    "lease_s": 4,
    "sweep_s": 0.5,
    "shutdown_grace_s": 0.5,
    "queue_limit": 1000,
    "max_attempts": 20,  # a machine too busy to renew a lease in time is no trouble of these
}
SCRIPT = "import torch\nw = torch.ones({}, requires_grad=True)\n(w * w).sum().backward()\n"
LOAD, WORKERS = 24, 3
DISK_MIB = 24


class House:
    """A server and its workers on a queue, which read scripts and run none."""

    def __init__(self, directory: Path, stack: ExitStack, **settings: Any) -> None:
        self._directory = directory
        self._stack = stack
        self._settings = {**READ, **settings}
        self.accepted: list[str] = []
        self.refused: list[httpx.Response] = []
        self.problem = ""  # the last one that the service reported
        self.server = Server(directory, **self._settings)
        stack.enter_context(running(self.server))

    def start_workers(self, *clocks: Path) -> list[Process]:
        """Three workers; each may have a clock of its own."""
        workers = []
        for number in range(WORKERS):
            program = ["-m", "tests.clocked", str(clocks[number])] if clocks else []
            worker = Process(self._directory, "worker", program=program, **self._settings)
            self._stack.enter_context(running(worker))
            workers.append(worker)
        return workers

    def submit(self, number: int, padding: int = 0) -> None:
        """Send a script that nobody sent before; remember what became of it."""
        body = {"script": f"{SCRIPT.format(number + 1)}# {'.' * padding}\n"}
        answer = self.server.http.post("/v1/diagnoses?wait=0", json=body)
        if answer.status_code in (200, 202):
            self.accepted.append(answer.json()["id"])
        else:
            self.refused.append(answer)

    @contextmanager
    def load(self) -> Iterator[None]:
        """Scripts arrive, four at a time, while the block goes on."""
        with ThreadPoolExecutor(4) as pool:
            sent = [pool.submit(self.submit, number) for number in range(LOAD)]
            yield
        for one in sent:
            one.result()

    def settle(self) -> None:
        """Everything that was accepted has ended well, and once; the rest may come again."""
        for diagnosis_id in self.accepted:
            eventually(partial(self.server.finished, diagnosis_id))
        for diagnosis_id in self.accepted:
            assert self.server.read(diagnosis_id)["status"] == "done"
            assert self.server.results(diagnosis_id) == 1
        for answer in self.refused:
            assert answer.status_code == 503, answer.text
            assert answer.json()["type"].endswith(":store-unavailable")
            assert int(answer.headers["retry-after"]) > 0

    def use_up(self) -> None:
        """Send large scripts until the room that files have already is used up, too."""
        for number in range(2 * LOAD, 2 * LOAD + 10 * DISK_MIB):
            self.submit(number, 200_000)
            if self.refused:
                return
        raise AssertionError("the store took more than its disk holds")

    def ready(self) -> bool:
        """Whether the service says that it takes work."""
        self.problem = self.server.http.get("/readyz").json().get("reason") or ""
        return "the database takes nothing" not in self.problem

    def __repr__(self) -> str:
        return f"<House: {self.problem or 'no problem'}>"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of its own, in memory, where everybody may write."""
    place = Path(tempfile.mkdtemp(prefix="gradmend-disk-"))
    options = ["-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=0777", "tmpfs", str(place)]
    subprocess.run(["mount", *options], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)
    place.rmdir()


def fill(disk: Path) -> Path:
    """A file that leaves no room for anything else."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


@pytest.mark.parametrize("jumps", [(3600, -3600), (-3600, 3600)])
def test_clocks_that_are_set_and_differ(
    tmp_path: Path, stack: ExitStack, cluster: Cluster, jumps: tuple[int, int]
) -> None:
    clocks = [tmp_path / f"clock{number}" for number in range(WORKERS)]
    for clock in clocks:
        clock.write_text("0")
    house = House(tmp_path, stack, jobs="queue", database_url=cluster.new_database())
    workers = house.start_workers(*clocks)
    with house.load():
        eventually(lambda: any(map(house.server.finished, list(house.accepted))))
        for clock, seconds in zip(clocks, jumps, strict=False):
            clock.write_text(str(seconds))
        workers[0].kill()  # what it holds was promised by a clock that others do not share
    house.settle()
    assert len(house.accepted) == LOAD


def test_workers_whose_clocks_are_behind_are_heard(
    tmp_path: Path, stack: ExitStack, cluster: Cluster
) -> None:
    clock = tmp_path / "clock"
    clock.write_text("-3600")
    house = House(tmp_path, stack, jobs="queue", database_url=cluster.new_database())
    house.start_workers(*[clock] * WORKERS)
    said = "running is switched off here"  # by a worker, where else there would be none
    eventually(lambda: house.server.http.get("/readyz").json()["reason"] == said)


def test_a_clock_that_is_set_back_between_two_servers(tmp_path: Path, stack: ExitStack) -> None:
    script = "import select\nselect.select([], [], [], 3)\n"
    clock = tmp_path / "clock"
    clock.write_text("3600")
    settings = {"lease_s": 2, "sweep_s": 0.5, "program": ["-m", "tests.clocked", str(clock)]}
    first = Server(tmp_path, **settings)
    with running(first):
        taken = first.ask(script, wait=0)["id"]
        eventually(lambda: first.read(taken)["status"] == "running")
        first.kill()
    clock.write_text("0")
    second = Server(tmp_path, **settings)
    stack.enter_context(running(second))
    eventually(partial(second.finished, taken))
    assert second.results(taken) == 1


@contextmanager
def stopped(cluster: Cluster, _: str) -> Iterator[None]:
    cluster.stop()
    yield
    cluster.start()


@contextmanager
def read_only(cluster: Cluster, url: str) -> Iterator[None]:
    """As behind a failover, on a machine that takes no writes."""
    database = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    setting = f"ALTER DATABASE {database} SET default_transaction_read_only"
    cluster.execute(f"{setting} = on")
    cluster.cut_connections()
    yield
    cluster.execute(f"{setting} = off")
    cluster.cut_connections()


@pytest.mark.parametrize("trouble", [stopped, read_only])
def test_a_store_that_goes_and_comes_under_load(
    tmp_path: Path,
    stack: ExitStack,
    cluster: Cluster,
    trouble: Callable[[Cluster, str], Any],
) -> None:
    url = cluster.new_database()
    house = House(tmp_path, stack, jobs="queue", database_url=url)
    house.start_workers()
    with house.load():
        eventually(lambda: bool(house.accepted))
        with trouble(cluster, url):
            house.submit(LOAD)
            assert not house.ready()
    eventually(house.ready)
    house.submit(LOAD + 1)
    house.settle()
    assert house.refused


def test_a_full_disk_under_the_database_of_a_queue(
    tmp_path: Path, small_disk: Path, stack: ExitStack, cluster: Cluster
) -> None:
    url = stack.enter_context(cluster.database_on(small_disk))
    house = House(tmp_path, stack, jobs="queue", database_url=url)
    house.start_workers()
    with house.load():
        eventually(lambda: bool(house.accepted))
        ballast = fill(small_disk)
        house.use_up()
        ballast.unlink()
    house.submit(LOAD)
    house.settle()


def test_a_full_disk_under_the_database_of_one_server(
    tmp_path: Path, small_disk: Path, stack: ExitStack
) -> None:
    house = House(tmp_path, stack, database_url=f"sqlite:///{small_disk / 'store'}")
    with house.load():
        eventually(lambda: bool(house.accepted))
        ballast = fill(small_disk)
        house.use_up()
        ballast.unlink()
    eventually(house.ready)
    house.submit(LOAD)
    house.settle()
