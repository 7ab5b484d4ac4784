"""A running service with its real sandbox, and a real browser that uses it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.browser.pages import Visit
from tests.browser.running import CHROMIUM_FLAGS, ROOT, chromium, running_service


@pytest.fixture(scope="session")
def service_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service of its own, with the editor in its form."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed on this machine (Debian: apt-get install npm)")
    subprocess.run(["make", "editor"], cwd=ROOT, check=True)
    with running_service(tmp_path_factory.mktemp("service")) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Debian's Chromium."""
    path = chromium()
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
    return await visit.open("/")
