"""A running service with its real sandbox, and a real browser in front of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.browser.pages import SETTLED_MS, Visit

ROOT = Path(__file__).parents[2]
START_S = 120
CHROMIUM_FLAGS = [
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def service_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service of its own, started as a user starts it."""
    directory = tmp_path_factory.mktemp("service")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("gradmend"), "serve", "--port", str(port)]
    log = directory / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
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
    answer = None
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            answer = httpx.get(f"{url}/readyz", timeout=START_S).json()
        except httpx.TransportError:
            time.sleep(0.3)
            continue
        if answer["ready"]:
            return
        time.sleep(0.5)
    if answer is not None and process.poll() is None:
        pytest.skip(f"the sandbox is not available on this machine: {answer['reason']}")
    pytest.fail(f"the service did not start:\n{log.read_text()[-4000:]}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("Chromium is not installed on this machine (Debian: apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, service_url: str) -> AsyncIterator[Visit]:
    """Opens pages; at the end no page may have complained, nor asked another host."""
    visit = Visit(browser, service_url)
    yield visit
    await visit.close()
    assert not visit.complaints, visit.complaints
    assert not visit.foreign, visit.foreign


@pytest_asyncio.fixture(loop_scope="session")
async def page(visit: Visit) -> Page:
    """The form, on a desk, by daylight."""
    page = await visit.open("/")
    page.set_default_timeout(SETTLED_MS)
    return page
