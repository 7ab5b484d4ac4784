"""The service's own processes: started as users start them, killed as systems kill them."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

COMMAND = str(Path(sys.executable).with_name("gradmend"))
ROOT = Path(__file__).parents[1]


def free_port() -> int:
    """A port that nobody listens on now; nor does the system give it to a client that connects
    meanwhile: it takes those from another range."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def eventually(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something is true; fail when it never gets so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds} s: {condition}"
        time.sleep(0.05)


def children(pid: int) -> set[int]:
    """Every living descendant of a process."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    """Those of the processes that still run."""
    return {pid for pid in pids if _state(pid) not in ("", "Z")}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""


def hear_interrupts() -> None:
    """A shell's background job ignores SIGINT, and so would everything that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Process:
    """A `gradmend` process, or what Python makes of `program`; what it logs goes to a file."""

    def __init__(
        self, directory: Path, *arguments: str, program: Sequence[str] = (), **settings: Any
    ) -> None:
        self.log = directory / f"{arguments[0]}-{time.monotonic_ns()}.log"
        environment = {f"GRADMEND_{name.upper()}": str(value) for name, value in settings.items()}
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        command = [sys.executable, *program] if program else [COMMAND]
        with self.log.open("wb") as log:
            self.popen = subprocess.Popen(
                [*command, *arguments],
                cwd=directory,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **environment},
                stdout=log,
                stderr=log,
                preexec_fn=hear_interrupts,
            )

    @property
    def pid(self) -> int:
        return self.popen.pid

    def kill(self) -> None:
        """`kill -9`: no chance to tidy up."""
        self.popen.kill()
        self.popen.wait(10)

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(60)


class Server(Process):
    """A `gradmend serve` that answers."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        port = self.url.rpartition(":")[2]
        super().__init__(directory, "serve", "--port", port, var_dir=directory, **settings)
        self.http = httpx.Client(base_url=self.url, timeout=90)
        eventually(self._answers)

    def _answers(self) -> bool:
        assert self.popen.poll() is None, self.log.read_text()
        try:
            return self.http.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def ask(self, script: str, wait: float = 60, **fields: Any) -> Any:
        """Post a script; the diagnosis as JSON."""
        response = self.http.post(
            "/v1/diagnoses", params={"wait": wait}, json={"script": script, **fields}
        )
        assert response.status_code in (200, 202), response.text
        return response.json()

    def read(self, diagnosis_id: str) -> Any:
        """The diagnosis as it is now."""
        response = self.http.get(f"/v1/diagnoses/{diagnosis_id}")
        assert response.status_code == 200, response.text
        return response.json()

    def finished(self, diagnosis_id: str) -> bool:
        """Whether the diagnosis has its result."""
        return self.read(diagnosis_id)["status"] in ("done", "failed")

    def results(self, diagnosis_id: str) -> int:
        """How many results its event stream reports."""
        events = self.http.get(f"/v1/diagnoses/{diagnosis_id}/events")
        return events.text.count("event: done")


@contextlib.contextmanager
def running(process: Process) -> Iterator[Process]:
    """End the process, whatever happens, and whatever it has become."""
    try:
        yield process
    finally:
        process.end()
