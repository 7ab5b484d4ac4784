"""A service with its real sandbox, started as a user starts it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.processes import free_port

ROOT = Path(__file__).parents[2]
START_S = 300
CHROMIUM_FLAGS = [
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str | None:
    """Where Debian's Chromium is; None: not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextlib.contextmanager
def running_service(directory: Path) -> Iterator[str]:
    """The address of a service that keeps its data in `directory`; stopped at the end.

    Raises `RuntimeError`, with the reason, when it dies or can do no work on this machine.
    """
    port = free_port()
    log = directory / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("gradmend"), "serve", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, "GRADMEND_VAR_DIR": str(directory)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _await_ready(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    reason = "it did not answer"
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            answer = httpx.get(f"{url}/readyz", timeout=START_S).json()
            if answer["ready"]:
                return
            reason = answer["reason"]
        time.sleep(0.3)
    if process.poll() is not None:
        raise RuntimeError(f"the service died:\n{log.read_text()[-4000:]}")
    raise RuntimeError(f"not ready within {START_S} s: {reason}")
