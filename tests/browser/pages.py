"""What the browser tests share: opening pages, waiting for a result, keeping pictures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
)

SHOTS = Path(__file__).parents[2] / "ci-output" / "screenshots"
SETTLED_MS = 90_000
expect.set_options(timeout=SETTLED_MS)  # a crowded machine is no fault of the page
SHOWN_EDITORS = "document.querySelectorAll('[data-editor]:not(details:not([open]) *)').length"
DESK = ViewportSize(width=1200, height=900)
PHONE = ViewportSize(width=360, height=740)
TALLEST = 12_000  # pixels of a picture: one of 50,000 takes half a minute
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true })"
GRAVE = ("serious", "critical")
WINDOWS: dict[str, Page] = {}  # by service: where results are looked at, one after the other


class Visit:
    """A visitor's pages. `complaints` are console errors, `foreign` requests to other hosts."""

    def __init__(self, browser: Browser, base: str) -> None:
        self.base = base
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._heard_of: list[Page] = []

    async def open(self, path: str, *, scripts: bool = True, phone: bool = False) -> Page:
        """A page of a new visitor. `scripts` off: as without JavaScript."""
        options: dict[str, Any] = {"viewport": PHONE if phone else DESK}
        context = await self._browser.new_context(
            java_script_enabled=scripts,
            base_url=self.base,
            accept_downloads=True,
            **options,
        )
        self._contexts.append(context)
        page = await context.new_page()
        self._listen(page)
        await page.goto(path)
        if scripts and await page.evaluate(SHOWN_EDITORS):
            await page.wait_for_selector(".cm-content")
        return page

    async def look(self, path: str, *, phone: bool = False) -> Page:
        """A page in the window of all who only look: that of a new visitor takes a second."""
        if self.base not in WINDOWS:
            context = await self._browser.new_context(base_url=self.base, accept_downloads=True)
            WINDOWS[self.base] = await context.new_page()
        page = WINDOWS[self.base]
        self._listen(page)
        await page.set_viewport_size(PHONE if phone else DESK)
        await page.emulate_media(color_scheme="light")
        await page.goto(path)
        return page

    def _listen(self, page: Page) -> None:
        page.set_default_timeout(SETTLED_MS)
        page.on("console", self._heard)
        page.on("pageerror", self._raised)
        page.on("request", self._asked)
        self._heard_of.append(page)

    def _heard(self, message: ConsoleMessage) -> None:
        # That a page was answered with an error status is what some tests are about.
        if message.type == "error" and "server responded with a status" not in message.text:
            self.complaints.append(message.text)

    def _raised(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _asked(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme in ("http", "https") and asked.netloc != urlsplit(self.base).netloc:
            self.foreign.append(request.url)

    async def close(self) -> None:
        for page in self._heard_of:
            page.remove_listener("console", self._heard)
            page.remove_listener("pageerror", self._raised)
            page.remove_listener("request", self._asked)
        for context in self._contexts:
            await context.close()


async def keep(page: Page, name: str) -> None:
    """Keep a picture of the page with what the tests put out: of all of it, unless it is very long,
    then of what a window shows."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    height: int = await page.evaluate("document.documentElement.scrollHeight")
    await page.screenshot(path=SHOTS / f"{name}.png", full_page=height <= TALLEST)


async def settled(page: Page) -> None:
    """Wait until the page shows a finished result."""
    await page.wait_for_selector("#share")


async def write(page: Page, script: str, field: str = "#script") -> None:
    """Paste a script into the page's editor of a field, in the place of all that stands there."""
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.evaluate("text => navigator.clipboard.writeText(text)", script)
    await page.focus(".cm-content")
    await page.keyboard.press("Control+A")
    await page.keyboard.press("Control+V")
    await expect(page.locator(field)).to_have_value(script)


async def diagnosed(page: Page, example: str) -> None:
    """Click an example and wait for its result."""
    await page.click(f"button[name=example][value={example}]")
    await settled(page)


RESULTS: dict[tuple[str, str], str] = {}  # by service and example, so that each runs once


async def result_of(visit: Visit, example: str, *, phone: bool = False) -> Page:
    """The result of an example, which no test changes."""
    page = await visit.look(RESULTS.get((visit.base, example), "/"), phone=phone)
    if (visit.base, example) not in RESULTS:
        await diagnosed(page, example)
        RESULTS[visit.base, example] = page.url
    return page


async def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    width: int = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return width


async def looks(page: Page, name: str) -> AsyncIterator[None]:
    """Show a page on a desk and a phone, in light and dark. At each no rule of accessibility may be
    broken, with all on it unfolded, and a picture is kept."""
    for place, size in (("desk", DESK), ("phone", PHONE)):
        await page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            yield
            await keep(page, f"{name}-{place}-{scheme}")
            await page.evaluate(UNFOLD)
            assert await _broken(page) == [], (place, scheme)
            assert await overflow(page) <= 0


async def _broken(page: Page) -> list[tuple[str, list[Any]]]:
    """The grave rules that the page breaks, and where."""
    found = (await Axe().run(page, options={"resultTypes": ["violations"]})).response["violations"]
    grave = (rule for rule in found if rule["impact"] in GRAVE)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in grave]
